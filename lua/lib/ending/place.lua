-- Notes where a job goes that can run again: the schedule or the work set of a queue.
-- Takes: the record of the queue (ending/batch); jid; its due time as text, or false; stored priority; now
return function(queue, jid, due, priority, now)
  local list, score = queue.scheduled, due
  if not due then
    local p = tonumber(priority) or 0
    if p - p ~= 0 then p = 0 end
    list, score = queue.work, p - now / 10000000000
  end
  list[#list + 1] = score
  list[#list + 1] = jid
end
