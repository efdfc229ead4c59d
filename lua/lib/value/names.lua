-- A JSON array of names as a list of texts without repeats. `{}` is the empty list.
-- Takes: json; `loose`, which other documents count as lists, as in some commands of qless-core:
--   nil: none;
--   `objects`: an object is the empty list;
--   `all`: so is every document but `false`, and array items that are not names are left out;
--   and `limit`, or nil: reading stops after `limit` + 1 names
-- Result: the list; nil for the document `false`; false for any other document that is not an array or holds
--   anything but texts and numbers
-- Refuses: text that is not JSON, in the words of the decoder
return function(json, loose, limit)
  local list = cjson.decode(json)
  if list == false then return nil end
  if type(list) ~= 'table' then return loose == 'all' and {} end
  if not loose and string.byte(json) ~= 91 and next(list) ~= nil and not string.find(json, '^%s*%[') then
    return false
  end
  local names, seen, count = {}, {}, 0
  for i = 1, #list do
    local name = list[i]
    if type(name) == 'number' then name = tostring(name) end
    if type(name) ~= 'string' then
      if loose ~= 'all' then return false end
    elseif not seen[name] then
      if limit and count > limit then break end
      seen[name] = true
      count = count + 1
      names[count] = name
    end
  end
  return names
end
