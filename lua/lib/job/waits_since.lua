-- Since when a waiting job has waited, as text. Its score says when it was queued. That differs from its newest history
-- entry after a release by its lane or its dependencies, and after a note.
-- Takes: now; jid; queue; the time of its newest history entry, or nil
return function(now, jid, queue, newest)
  local number = need('value/number')
  local priority = number(redis.pcall('hget', Keys.job .. jid, 'priority'))
  local score = number(redis.pcall('zscore', Keys.queue .. (queue or '') .. Keys.work, jid))
  local queued = need('queue/arrival')(now, priority and score, priority)
  -- The history has whole seconds: within 1.1 s, the score and the newest entry mean the same time.
  local known = number(newest)
  if queued and not (known and math.abs(queued - known) <= 1.1) then return string.format('%.3f', queued) end
  return newest
end
