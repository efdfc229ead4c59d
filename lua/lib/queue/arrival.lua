-- The time since which a job of a queue has waited. The score of a waiting job is its priority minus its arrival in
-- units of 10^10 seconds. The score of a held job is the negative of that. If the score does not have the arrival, the
-- time is that of the newest history entry: after `priority` the score is the priority alone, after a revoked lock it
-- is infinite, and with a large priority it is rounded by more than a tenth of a second. A time after now is none.
-- Takes: now; the score of a waiting job, nil for a job of another set; its stored priority, or nil: then the score
--   rounded up is the priority; jid, or nil: then its history is not read
-- Result: the time as a number; nil if it is not known
local entry_time = need('history/entry_time')

return function(now, score, priority, jid)
  priority = priority or score and math.ceil(score)
  local arrival = score and (priority - score) * 10000000000 or 0
  if arrival > 0 and arrival <= now and math.abs(priority) <= 100000 then return arrival end
  local newest = jid and redis.pcall('lrange', Keys.job .. jid .. Keys.history, -1, -1)
  return newest and not newest.err and tonumber(entry_time(newest[1]) or nil) or nil
end
