-- Returns the failure of a stored text as a table, empty if there is none that parses.
return function(text)
  if not text or text == '{}' then return {} end
  local ok, failure = pcall(cjson.decode, text)
  if ok and type(failure) == 'table' then return failure end
  return {}
end
