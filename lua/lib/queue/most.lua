-- How many jobs a call takes or shows that wants more than 10000, or all (below 0): at most 10000. A count
-- below 0 keeps its meaning where a queue has no more than that.
-- Takes: t; queue; the count
return function(t, queue, count)
  if count > 0 then return math.min(count, 10000) end
  local call, base = redis.call, Keys.queue .. queue
  local all = call('zcard', base .. Keys.work) + call('zcount', base .. Keys.locks, '-inf', t)
    + call('zcount', base .. Keys.scheduled, 0, t)
  return all > 10000 and 10000 or count
end
