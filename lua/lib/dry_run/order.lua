-- Compares members and scores of sorted sets as Redis does, for the dry run.
-- Result: a table of functions: `less(a, b)` orders members, `precedes(score, member, other score, other)` entries;
--   `number(text)` reads a score, `between(min, max)` makes a function that tells whether a score is in that range

-- Whether one text comes before another by their bytes, as in Redis. Lua's own `<` would use the server's locale.
local function less(a, b)
  for i = 1, math.min(#a, #b) do
    local x, y = string.byte(a, i), string.byte(b, i)
    if x ~= y then return x < y end
  end
  return #a < #b
end

local function precedes(score, member, other_score, other)
  return score < other_score or score == other_score and less(member, other)
end

local function number(text)
  if text == 'inf' or text == '+inf' then return math.huge end
  if text == '-inf' then return -math.huge end
  return tonumber(text)
end

-- Makes a function that tells whether a score is between two bounds. A bound `(5` excludes 5 itself, as in Redis.
local function between(min, max)
  local function bound(text)
    local open = string.match(text, '^%((.*)$')
    return number(open or text), open ~= nil
  end
  local low, above = bound('' .. min)
  local high, below = bound('' .. max)
  return function(s) return (s > low or s == low and not above) and (s < high or s == high and not below) end
end

return function() return {less = less, precedes = precedes, number = number, between = between} end
