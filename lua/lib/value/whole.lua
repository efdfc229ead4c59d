-- The number in a text, nil if it is not a whole number from `min` to `max`.
-- Takes: text, may be nil; min; max, or nil for 2^53, up to which doubles are exact
return function(text, min, max)
  local n = text and tonumber(text)
  -- Adding 0 turns -0, which Redis does not accept as a number, into 0.
  if n and n >= min and n <= (max or 9007199254740992) and n % 1 == 0 then return n + 0 end
end
