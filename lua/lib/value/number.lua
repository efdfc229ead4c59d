-- Returns the number a text stands for, or nil if it is none or not finite.
return function(text)
  local n = tonumber(text)
  if n and n - n == 0 then return n end
end
