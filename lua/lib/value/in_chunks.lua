-- Calls a command on one key with the values of a list of any length, in chunks short enough for `unpack`.
-- Takes: command; key; list; first and last index
-- Result: the sum of the replies
local size = 4000
return function(name, key, list, first, last)
  local sum = 0
  for from = first, last, size do
    sum = sum + redis.call(name, key, unpack(list, from, math.min(from + size - 1, last)))
  end
  return sum
end
