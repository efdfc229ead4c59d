-- Since when a waiting job has waited, as text. Its score says when it was queued. That differs from its newest history
-- entry after a release by its lane or its dependencies, and after a note.
-- Takes: now; jid; queue; the time of its newest history entry, or nil
return function(now, jid, queue, newest)
  local number = need('value/number')
  local priority = number(redis.pcall('hget', Keys.job .. jid, 'priority'))
  local score = number(redis.pcall('zscore', Keys.queue .. (queue or '') .. Keys.work, jid))
  -- With a larger priority, the score rounds the time by more than a tenth of a second: do not use it.
  local queued = priority and score and math.abs(priority) <= 100000 and (priority - score) * 10000000000
  -- The history has whole seconds: within 1.1 s, the score and the newest entry mean the same time.
  local known = number(newest)
  if queued and queued > 0 and queued <= now and not (known and math.abs(queued - known) <= 1.1) then
    return string.format('%.3f', queued)
  end
  return newest
end
