-- A worker counts as seen lately if it was seen after this moment. The command `workers` forgets workers whose time is
-- in [0, now - age]. If now - age is below 0, it forgets none: then each time of at least 0 is after this moment.
-- Takes: now
return function(now)
  local age = need('value/number')(redis.pcall('hget', Keys.config, 'max-worker-age')) or 86400
  return math.max(now - age, -1)
end
