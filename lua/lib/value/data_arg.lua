-- The data that a command gives a job. The bare document `false` means "no data", as in qless-core. The decoder stops
-- at a NUL: only the part before it counts, encoded again.
-- Takes: text
-- Result: the data as text, nil if there is none
-- Refuses: text that is not JSON
return function(text)
  local value = cjson.decode(text)
  if value == false then return nil end
  return string.find(text, '\0', 1, true) and cjson.encode(value) or text
end
