-- Lists a throttle whose maximum was set. A list of another type must not stop a queue: `check` finds what it lacks.
-- Takes: t; id
return function(t, id)
  redis.pcall('zadd', Keys.throttles, t, id)
end
