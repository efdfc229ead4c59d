-- The jids of the jobs that hold a slot of a throttle, as a JSON array. The first has held its slot longest.
-- Takes: id
-- Refuses: a missing id
return function(argv)
  local id = argv[3]
  if not id then error('Throttle(): Arg "id" missing') end
  local jids = redis.call('zrange', Keys.throttle .. id .. Keys.locks, 0, -1)
  return jids[1] and cjson.encode(jids) or '[]'
end, true
