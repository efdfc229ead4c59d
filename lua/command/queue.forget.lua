-- queue.forget: queue ...
-- Takes names off the list of queues; nothing else is touched.
return function(argv)
  local queues = need('value/args_from')(argv, 3)
  if not queues[1] then redis.call('zrem', Keys.queues) end
  need('value/in_chunks')('zrem', Keys.queues, queues, 1, #queues)
end, true
