-- How many jobs of a queue may run at the same time, in the form of throttle.get. The number comes from the setting
-- `<queue>-max-concurrency`, because pop obeys that setting.
-- Takes: queue
-- Refuses: a missing queue
return function(argv)
  local queue = argv[3]
  if not queue then error('Queue(): no queue name provided') end
  local id = Keys.queue .. queue
  local maximum = need('value/number')(redis.pcall('hget', Keys.config, queue .. '-max-concurrency'))
  maximum = math.max(0, math.floor(maximum or 0))
  return '{"id":' .. cjson.encode(id) .. ',"maximum":' .. string.format('%.0f', maximum) ..
    ',"ttl":' .. redis.call('ttl', Keys.throttle .. id) .. '}'
end, true
