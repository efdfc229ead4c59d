-- unpause: queue ...
-- Lets queues be popped again.
return function(argv)
  local queues = need('words')(argv, 3)
  if not queues[1] then redis.call('srem', Keys.paused) end
  local many = need('many')
  many('srem', Keys.paused, queues, 1, #queues)
  many('hdel', Keys.pauses, queues, 1, #queues)
end, true
