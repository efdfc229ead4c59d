-- Returns the tags a stored text stands for, as texts. What does not parse is no tag.
return function(text)
  local tags = {}
  if not text or text == '{}' then return tags end
  local ok, list = pcall(cjson.decode, text)
  if not ok or type(list) ~= 'table' then return tags end
  for _, tag in ipairs(list) do
    if type(tag) == 'string' or type(tag) == 'number' then tags[#tags + 1] = tostring(tag) end
  end
  return tags
end
