-- Subtracts `n` from the queue's counter of failed jobs for the day of `when`. A counter that is missing or not a
-- number counts as 0. The counter never falls below 0.
-- Takes: when queue n
return function(when, queue, n)
  when = tonumber(when)
  if not when or when - when ~= 0 then return end
  local day = Keys.stats .. when - when % 86400 .. ':' .. queue
  local left = redis.pcall('hincrby', day, 'failed', -n)
  if type(left) ~= 'number' or left < 0 then redis.pcall('hset', day, 'failed', 0) end
end
