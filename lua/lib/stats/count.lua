-- Adds to a counter of a day. A counter that is not a number starts from 0: statistics never stop a job.
-- Takes: key field n
return function(key, field, n)
  if type(redis.pcall('hincrby', key, field, n)) ~= 'number' then redis.pcall('hset', key, field, n) end
end
