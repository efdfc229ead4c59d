-- Writes the entries that queue/place has collected for a queue to its work set and its schedule. The caller adds the
-- queue to the list of queues.
-- Takes: the record of the queue, as queue/place describes it
return function(record)
  local in_chunks, work, scheduled = need('value/in_chunks'), record.work, record.scheduled
  if work[1] then in_chunks('zadd', record.base .. Keys.work, work, 1, #work) end
  if scheduled[1] then in_chunks('zadd', record.base .. Keys.scheduled, scheduled, 1, #scheduled) end
end
