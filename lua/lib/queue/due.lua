-- Brings due jobs into the work set: first children of templates, then jobs of the schedule.
-- Takes: now; t; queue; how many of each at most: below 0, no children and all of the schedule; what the call may still
--   bring (queue/call_budget), which this reduces; whether to leave the templates
-- Result: whether there may be more; how many it dealt with; how many of them the work set may not have: children,
--   runs that made none, entries without a job
-- Publishes: as recurring/spawn
return function(now, t, queue, most, budget, leave)
  local call, base = redis.call, Keys.queue .. queue
  local count, apart, more = 0, 0, false
  local children = math.min(most, budget.children)
  if children > 0 and not leave then
    local due = call('zrangebyscore', base .. Keys.recur, 0, t, 'WITHSCORES', 'LIMIT', 0, children)
    if due[1] then
      local moved, skipped = need('recurring/spawn')(now, t, queue, due, children, budget)
      budget.children = budget.children - moved - skipped
      count, apart = moved + skipped, moved + skipped
      more = #due == 2 * children or moved == children or budget.tags <= 0
    end
  end
  most = (most < 0 or most > budget.due) and budget.due or most
  local due = most > 0 and call('zrangebyscore', base .. Keys.scheduled, 0, t, 'LIMIT', 0, most) or {}
  if due[1] then
    budget.due = budget.due - #due
    apart = apart + #due - need('queue/promote')(now, queue, due)
    count, more = count + #due, more or #due == most
  end
  return more, count, apart
end
