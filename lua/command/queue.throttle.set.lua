-- Sets how many jobs of a queue may run at the same time: as the maximum of a throttle, and as the setting that pop
-- obeys.
-- Takes: queue maximum: 0 for any number
-- Refuses: missing or wrong words
return function(argv, _, t)
  local queue, maximum = argv[3], need('value/number')(argv[4])
  if not queue then error('Queue(): no queue name provided') end
  if not maximum or maximum % 1 ~= 0 then
    error('Throttle(): Arg "maximum" not an integer: ' .. tostring(argv[4]))
  end
  -- Refuse a maximum below 0: pop would read such a setting as no limit.
  if maximum < 0 then error('Throttle(): Arg "maximum" below 0, which pause is for: ' .. argv[4]) end
  local id, text = Keys.queue .. queue, string.format('%.0f', maximum)
  redis.call('hmset', Keys.throttle .. id, 'id', id, 'maximum', text)
  redis.call('hdel', Keys.throttle .. id, 'changed', 'by')
  need('throttle/enlist')(t, id)
  redis.call('hset', Keys.config, queue .. '-max-concurrency', text)
end
