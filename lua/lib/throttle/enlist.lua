-- Adds a throttle with a maximum to the list of throttles. Ignores an error: `check` finds throttles not in the list.
-- Takes: t; id
return function(t, id)
  redis.pcall('zadd', Keys.throttles, t, id)
end
