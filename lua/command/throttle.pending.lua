-- Lists the jobs that wait for a slot of a throttle.
-- Takes: id
-- Result: a JSON array of jids, the job that is next first
-- Refuses: a missing id
return function(argv)
  local id = argv[3]
  if not id then error('Throttle(): Arg "id" missing') end
  local jids = redis.call('zrange', Keys.throttle .. id .. Keys.pending, 0, -1)
  return jids[1] and cjson.encode(jids) or '[]'
end, true
