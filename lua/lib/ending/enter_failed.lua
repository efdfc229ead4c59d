-- Adds a job that failed to what the batch will write to its failure list and to the counters of the day.
-- Takes: the batch; the record of the queue; jid; group
return function(batch, queue, jid, group)
  queue.failed = queue.failed + 1
  local list = batch.groups[group]
  if not list then
    list = {}
    batch.groups[group] = list
  end
  list[#list + 1] = jid
  batch.failed[#batch.failed + 1] = jid
end
