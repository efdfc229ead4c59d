-- Decodes the stored failure of a job. The result is an empty table if the text is missing or is no JSON object.
-- Takes: text
return function(text)
  if not text or text == '{}' then return {} end
  local ok, failure = pcall(cjson.decode, text)
  if ok and type(failure) == 'table' then return failure end
  return {}
end
