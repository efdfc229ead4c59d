-- Promotes the due jobs of a queue, as many as the call may still promote.
-- Takes: now; t; queue; what the call may still bring (queue/slice), which this reduces
-- Result: how many due jobs are left in the schedule
return function(now, t, queue, slice)
  local call, scheduled = redis.call, Keys.queue .. queue .. Keys.scheduled
  if slice.due == 0 then return call('zcount', scheduled, 0, t) end
  local due = call('zrangebyscore', scheduled, 0, t, 'LIMIT', 0, slice.due)
  if not due[1] then return 0 end
  slice.due = slice.due - #due
  need('queue/promote')(now, queue, due)
  return slice.due == 0 and call('zcount', scheduled, 0, t) or 0
end
