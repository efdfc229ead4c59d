-- Returns a JSON array of names as a list of texts without repeats, or nil if the document is
-- no array or holds anything but texts and numbers. `{}` is the empty list. Text that is not
-- JSON raises the words of the decoder.
return function(json)
  local list = cjson.decode(json)
  if type(list) ~= 'table' or (next(list) ~= nil and not string.find(json, '^%s*%[')) then return nil end
  local names, seen = {}, {}
  for i = 1, #list do
    local name = list[i]
    if type(name) == 'number' then name = tostring(name) end
    if type(name) ~= 'string' then return nil end
    if not seen[name] then
      seen[name] = true
      names[#names + 1] = name
    end
  end
  return names
end
