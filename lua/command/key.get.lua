-- A page of the jobs of a lane in their order, as JSON: key and jobs (jid, state, queue).
-- Takes: lane [offset [count]]; at most 10000 jobs
-- Refuses: a missing lane, an offset or count that is not a whole number
local Job = Fields('state', 'queue')

return function(argv)
  local lane = argv[3]
  if not lane then error('Key(): Arg "key" missing') end
  local whole = need('value/whole')
  local from, count = whole(argv[4] or 0, 0), whole(argv[5] or 10000, 0)
  if not from then error('Key(): Arg "offset" is not a whole number') end
  if not count then error('Key(): Arg "count" is not a whole number') end
  local last = from + math.min(count, 10000) - 1
  local encode, rows = cjson.encode, {}
  local jids = last < from and {} or redis.call('zrange', Keys.lane .. lane, from, last)
  for i = 1, #jids do
    local job = redis.pcall('hmget', Keys.job .. jids[i], unpack(Job))
    rows[i] = '{"jid":' .. encode(jids[i]) .. ',"state":' .. encode(job[Job.state] or '') .. ',"queue":' ..
      encode(job[Job.queue] or '') .. '}'
  end
  return '{"key":' .. encode(lane) .. ',"jobs":[' .. table.concat(rows, ',') .. ']}'
end, true
