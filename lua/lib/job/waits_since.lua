-- Since when a waiting job has waited, as text. The job's score has the time at which it was queued. The newest history
-- entry is older after a release by the lane or the dependencies, and newer after a note of `log`.
-- Takes: now; jid; queue; the time of its newest history entry, or nil
return function(now, jid, queue, newest)
  local number = need('value/number')
  local priority = number(redis.pcall('hget', Keys.job .. jid, 'priority'))
  local score = number(redis.pcall('zscore', Keys.queue .. (queue or '') .. Keys.work, jid))
  local queued = need('queue/arrival')(now, priority and score, priority)
  -- The history has whole seconds: up to 1.1 s apart, the score and the newest entry mean one moment.
  local known = number(newest)
  if queued and not (known and math.abs(queued - known) <= 1.1) then return string.format('%.3f', queued) end
  return newest
end
