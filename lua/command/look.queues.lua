-- The counts of queues, their pauses, and since when the next job to pop has waited (`head`).
-- Writes nothing.
-- Takes: [queue ...]; without names all known queues
-- Result: per queue: name, value, ...; without names, if there are more than 5000, only their number
-- Refuses: more than 10000 names
local max_rows = 5000

return function(argv, now, t)
  local call = redis.call
  if argv[10003] then error('Look(): more than 10000 queues') end
  local queues = need('value/args_from')(argv, 3)
  if not queues[1] then
    local count = call('zcard', Keys.queues)
    if count > max_rows then return {'' .. count} end
    queues = call('zrange', Keys.queues, 0, -1)
  end
  local row, counts = need('queue/row'), need('queue/counts')
  return need('value/rows')(queues, function(queue)
    return row(now, queue, counts(now, t, queue))
  end)
end
