-- Reads the argument with which a command sets the data of a job. As in qless-core, the document `false` means "no
-- data". The JSON decoder ignores text from a NUL on: then the data is the part before it, encoded again.
-- Takes: text
-- Result: the data as JSON text; nil for "no data"
-- Refuses: text that is not JSON
return function(text)
  local value = cjson.decode(text)
  if value == false then return nil end
  return string.find(text, '\0', 1, true) and cjson.encode(value) or text
end
