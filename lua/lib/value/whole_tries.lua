-- The tries that a number of retries allows: whole, and small enough for every client to count down.
-- Takes: n
return function(n)
  return math.floor(math.max(-9007199254740992, math.min(9007199254740992, n)))
end
