-- The number of jobs of a queue that are waiting, running or scheduled, as one sum.
-- Takes: queue
-- Refuses: a missing queue
return function(argv)
  local queue = argv[3]
  if not queue then error('Queue(): no queue name provided') end
  local call, base = redis.call, Keys.queue .. queue
  return call('zcard', base .. Keys.locks) + call('zcard', base .. Keys.work) + call('zcard', base .. Keys.scheduled)
end, true
