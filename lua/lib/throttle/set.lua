-- Sets the maximum of a throttle, and adds the throttle to the list of throttles. Its expiry stays.
-- Takes: now; id; maximum; the operator, kept with the time for `throttle show`, or nil
return function(now, id, maximum, by)
  local key, time = Keys.throttle .. id, string.format('%.17g', now)
  redis.call('hmset', key, 'id', id, 'maximum', string.format('%.0f', maximum), 'changed', time)
  if by then redis.call('hset', key, 'by', by) else redis.call('hdel', key, 'by') end
  need('throttle/enlist')(time, id)
end
