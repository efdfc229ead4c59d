-- Raises the error of Redis for a number that is not an integer, before anything is written.
-- Takes: n
return function(n)
  if n % 1 ~= 0 or n > 9e15 or n < -9e15 then redis.call('zrange', Keys.queues, n, n) end
end
