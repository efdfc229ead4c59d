-- Adds to a counter of a day's statistics. A counter that is not a number restarts from 0, so that it stops no job.
-- Takes: key field n
return function(key, field, n)
  if type(redis.pcall('hincrby', key, field, n)) ~= 'number' then redis.pcall('hset', key, field, n) end
end
