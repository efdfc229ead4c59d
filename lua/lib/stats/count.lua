-- Adds to a counter of a day. One that is no number starts anew: statistics never stop a job.
return function(key, field, n)
  if type(redis.pcall('hincrby', key, field, n)) ~= 'number' then redis.pcall('hset', key, field, n) end
end
