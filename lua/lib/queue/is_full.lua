-- Whether the number of running jobs of a queue has reached its setting `max-concurrency`. Writes nothing.
-- Takes: t; queue
return function(t, queue)
  local stored = redis.pcall('hget', Keys.config, queue .. '-max-concurrency')
  local most = stored and need('value/number')(stored) or 0
  return most >= 1 and redis.call('zcount', Keys.queue .. queue .. Keys.locks, t, '+inf') >= math.floor(most)
end
