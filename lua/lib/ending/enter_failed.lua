-- Records a failed job in a batch of ended jobs. The batch later writes it to the failure list and the day's counter.
-- Takes: the batch; its record of the queue, which counts the failed jobs; jid; group
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
