-- Gives a throttle a maximum. The time after which it is forgotten stays.
-- Takes: now; id; maximum; the operator, kept with the time for `throttle show`, or nil
return function(now, id, maximum, by)
  local key = Keys.throttle .. id
  redis.call('hmset', key, 'id', id, 'maximum', string.format('%.0f', maximum), 'changed', string.format('%.17g', now))
  if by then redis.call('hset', key, 'by', by) else redis.call('hdel', key, 'by') end
end
