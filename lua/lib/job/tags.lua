-- The tags in a stored text. Text that does not parse has none.
-- Takes: text
return function(text)
  local tags = {}
  if not text or text == '{}' then return tags end
  local ok, list = pcall(cjson.decode, text)
  if not ok or type(list) ~= 'table' then return tags end
  for i = 1, #list do
    local tag = list[i]
    if type(tag) == 'number' then tag = tostring(tag) end
    if type(tag) == 'string' then tags[#tags + 1] = tag end
  end
  return tags
end
