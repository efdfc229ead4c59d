-- Decodes a JSON argument of a `guard` command.
-- Takes: the name of the argument, for errors; its text
-- Refuses: text that is not JSON, NUL bytes
return function(what, text)
  if string.find(text, '%z') then error('Guard(): NUL byte in ' .. what) end
  local ok, value = pcall(cjson.decode, text)
  if not ok then error('Guard(): ' .. what .. ' is not JSON: ' .. tostring(value)) end
  return value
end
