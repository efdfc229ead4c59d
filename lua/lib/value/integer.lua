-- Raises Redis's own error if a number is not an integer. Commands call it before they write anything.
-- Takes: n
return function(n)
  if n % 1 ~= 0 or n > 9e15 or n < -9e15 then redis.call('zrange', Keys.queues, n, n) end
end
