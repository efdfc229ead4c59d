-- Counts the jobs that were completed in the last five minutes. If the oldest complete job that is kept is newer,
-- counts since then.
-- Takes: now
-- Result: the number of jobs, and of the seconds in which they completed; nil if no complete job is kept that is at
--   least a second old
return function(now)
  local oldest = redis.call('zrange', Keys.completed, 0, 0, 'WITHSCORES')[2]
  if not oldest then return nil end
  local seconds = math.min(300, now - tonumber(oldest))
  if seconds < 1 then return nil end
  return redis.call('zcount', Keys.completed, string.format('%.17g', now - seconds), '+inf'), seconds
end
