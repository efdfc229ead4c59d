-- Since when a job of a queue has waited. The score of a waiting job is its priority less the time of its arrival in
-- units of 10^10 seconds. A held job has the negative of that score. If the score has no usable time, the time of the
-- newest history entry counts. `priority` sets the score to the priority itself, a revoked lock to infinity. The score
-- of a large priority rounds the time by more than a tenth of a second. A time after now is not usable either.
-- Takes: now; the score of a waiting job, nil for a job of another set; its stored priority, or nil: then it is the
--   least whole number that is not below the score; jid, or nil: then its history is not read
-- Result: the time as a number; nil if it is not known
local entry_time = need('history/entry_time')

return function(now, score, priority, jid)
  priority = priority or score and math.ceil(score)
  local arrival = score and (priority - score) * 10000000000 or 0
  if arrival > 0 and arrival <= now and math.abs(priority) <= 100000 then return arrival end
  local newest = jid and redis.pcall('lrange', Keys.job .. jid .. Keys.history, -1, -1)
  return newest and not newest.err and tonumber(entry_time(newest[1]) or nil) or nil
end
