-- Returns a decoded JSON argument of one of our own commands. `what`: how a refusal names it.
return function(what, text)
  if string.find(text, '%z') then error('Guard(): NUL byte in ' .. what) end
  local ok, value = pcall(cjson.decode, text)
  if not ok then error('Guard(): ' .. what .. ' is not JSON: ' .. tostring(value)) end
  return value
end
