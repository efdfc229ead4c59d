-- pause: queue ...
-- Stops pops of queues, without an end.
return function(argv)
  local queues = need('words')(argv, 3)
  if not queues[1] then redis.call('sadd', Keys.paused) end
  local many = need('many')
  many('sadd', Keys.paused, queues, 1, #queues)
  many('hdel', Keys.pauses, queues, 1, #queues)
end, true
