-- Promotes the due jobs of a queue, up to the number that the call may still promote.
-- Takes: now; t; queue; the limits of the call (queue/call_budget), which this reduces
-- Result: how many due jobs are left in the schedule
return function(now, t, queue, budget)
  local call, scheduled = redis.call, Keys.queue .. queue .. Keys.scheduled
  if budget.due == 0 then return call('zcount', scheduled, 0, t) end
  local due = call('zrangebyscore', scheduled, 0, t, 'LIMIT', 0, budget.due)
  if not due[1] then return 0 end
  budget.due = budget.due - #due
  need('queue/promote')(now, queue, due)
  return budget.due == 0 and call('zcount', scheduled, 0, t) or 0
end
