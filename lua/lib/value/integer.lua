-- Raises what Redis says of a number that is not an integer, before anything is written.
return function(n)
  if n % 1 ~= 0 or n > 9e15 or n < -9e15 then redis.call('zrange', Keys.queues, n, n) end
end
