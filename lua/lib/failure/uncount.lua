-- Subtracts `n` from the failed jobs of the day of `when`. A counter that is missing, lost or not a number
-- counts as 0 and never falls below it.
-- Takes: when queue n
return function(when, queue, n)
  when = tonumber(when)
  if not when or when - when ~= 0 then return end
  local day = Keys.stats .. when - when % 86400 .. ':' .. queue
  local left = redis.pcall('hincrby', day, 'failed', -n)
  if type(left) ~= 'number' or left < 0 then redis.pcall('hset', day, 'failed', 0) end
end
