-- Pauses queues for an unlimited time, without a reason.
-- Takes: queue ...
return function(argv)
  local queues = need('value/args_from')(argv, 3)
  if not queues[1] then redis.call('sadd', Keys.paused) end
  local in_chunks = need('value/in_chunks')
  in_chunks('sadd', Keys.paused, queues, 1, #queues)
  in_chunks('hdel', Keys.pauses, queues, 1, #queues)
end, true
