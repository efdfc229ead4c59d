-- Removes names from the list of queues. Nothing else changes.
-- Takes: queue ...
return function(argv)
  local queues = need('value/args_from')(argv, 3)
  if not queues[1] then redis.call('zrem', Keys.queues) end
  need('value/in_chunks')('zrem', Keys.queues, queues, 1, #queues)
end, true
