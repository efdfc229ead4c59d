-- A number of retries, rounded down and limited to 2^53 either way, so that every client can count it down by 1.
-- Takes: n
return function(n)
  return math.floor(math.max(-9007199254740992, math.min(9007199254740992, n)))
end
