-- Notes a job that failed for its failure list and the counters of the day.
-- Takes: the batch; the record of the queue; jid; group
return function(b, queue, jid, group)
  queue.failed = queue.failed + 1
  local list = b.groups[group]
  if not list then
    list = {}
    b.groups[group] = list
  end
  list[#list + 1] = jid
  b.failed[#b.failed + 1] = jid
end
