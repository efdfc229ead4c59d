-- Limits the count of a call that takes or shows jobs to 10000. A count below 0, which means all jobs, is only changed
-- if the queue has more than 10000.
-- Takes: t; queue; the count
return function(t, queue, count)
  if count > 0 then return math.min(count, 10000) end
  local call, base = redis.call, Keys.queue .. queue
  local all = call('zcard', base .. Keys.work) + call('zcount', base .. Keys.locks, '-inf', t)
    + call('zcount', base .. Keys.scheduled, 0, t)
  return all > 10000 and 10000 or count
end
