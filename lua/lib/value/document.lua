-- A stored JSON document as cjson writes it, `{}` if it does not parse to a table.
-- Takes: text
return function(text)
  if not text then return '{}' end
  local ok, json = pcall(cjson.decode, text)
  if not ok or type(json) ~= 'table' then return '{}' end
  ok, json = pcall(cjson.encode, json)
  return ok and json or '{}'
end
