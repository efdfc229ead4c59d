-- Returns a JSON array of names as a list of texts without repeats. `{}` is the empty list.
-- Takes: json
-- Returns: the list; nil if the document is not an array or holds anything but texts and numbers
-- Refuses: text that is not JSON, in the words of the decoder
return function(json)
  local list = cjson.decode(json)
  if type(list) ~= 'table' then return nil end
  if string.byte(json) ~= 91 and next(list) ~= nil and not string.find(json, '^%s*%[') then return nil end
  local names, seen, count = {}, {}, 0
  for i = 1, #list do
    local name = list[i]
    if type(name) == 'number' then name = tostring(name) end
    if type(name) ~= 'string' then return nil end
    if not seen[name] then
      seen[name] = true
      count = count + 1
      names[count] = name
    end
  end
  return names
end
