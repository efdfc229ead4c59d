-- Returns the jobs of a lane in their order, as JSON: key and jobs (jid, state, queue).
-- Takes: lane
-- Refuses: a missing lane
local Job = Fields('state', 'queue')

return function(argv)
  local lane = argv[3]
  if not lane then error('Key(): Arg "key" missing') end
  local encode, jids, rows = cjson.encode, redis.call('zrange', Keys.lane .. lane, 0, -1), {}
  for i = 1, #jids do
    local job = redis.pcall('hmget', Keys.job .. jids[i], unpack(Job))
    rows[i] = '{"jid":' .. encode(jids[i]) .. ',"state":' .. encode(job[Job.state] or '') .. ',"queue":' ..
      encode(job[Job.queue] or '') .. '}'
  end
  return '{"key":' .. encode(lane) .. ',"jobs":[' .. table.concat(rows, ',') .. ']}'
end, true
