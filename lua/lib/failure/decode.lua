-- A stored failure as a table, empty if the text is missing or does not parse.
-- Takes: text
return function(text)
  if not text or text == '{}' then return {} end
  local ok, failure = pcall(cjson.decode, text)
  if ok and type(failure) == 'table' then return failure end
  return {}
end
