-- Decodes the stored tags of a job. Keeps the results of a call, because many jobs have equal tags.
-- Takes: text
-- Result: the tags, each once; nil if the text is unreadable; nil and true if the text is too long to decode
return function(check)
  local known = {}
  return function(text)
    if text == '{}' or text == '[]' then return {} end
    if not text then return nil end
    if known[text] then return known[text] end
    if #text > check.longest then return nil, true end
    local ok, list = pcall(cjson.decode, text)
    if not ok or type(list) ~= 'table' then return nil end
    local count, tags, seen = 0, {}, {}
    for _ in pairs(list) do count = count + 1 end
    if count ~= #list or count > 0 and not string.find(text, '^%s*%[') then return nil end
    for i = 1, count do
      local tag = list[i]
      if type(tag) == 'number' and tag - tag == 0 then tag = tostring(tag) end
      if type(tag) ~= 'string' then return nil end
      if not seen[tag] then
        seen[tag] = true
        tags[#tags + 1] = tag
      end
    end
    known[text] = tags
    return tags
  end
end
