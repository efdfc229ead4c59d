-- The number in a text, nil if it is not a finite number.
-- Takes: text
return function(text)
  local n = tonumber(text)
  if n and n - n == 0 then return n end
end
