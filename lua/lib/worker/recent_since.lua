-- The moment after which a worker must have been seen to count as seen lately: `workers` forgets workers whose time is
-- in [0, now - age], and leaves a time below 0 alone.
-- Takes: now
return function(now)
  local age = need('value/number')(redis.pcall('hget', Keys.config, 'max-worker-age')) or 86400
  return math.max(now - age, -1)
end
