-- Counts the jobs that were completed in the last five minutes; if only newer ones are kept, since the oldest of them.
-- Takes: now
-- Result: their number, and over how many seconds; nil if none is kept
return function(now)
  local oldest = redis.call('zrange', Keys.completed, 0, 0, 'WITHSCORES')[2]
  if not oldest then return nil end
  local seconds = math.min(300, now - tonumber(oldest))
  if seconds < 1 then return nil end
  return redis.call('zcount', Keys.completed, string.format('%.17g', now - seconds), '+inf'), seconds
end
