-- Returns a JSON array of names as a list of texts without repeats; nil for the bare document
-- `false`; false for any other that is no array, or holds anything but texts and numbers. `{}` is
-- the empty list. Text that is not JSON raises the words of the decoder.
-- `loose`: what the reference takes. `objects`: an object is the empty list. `all`: so is every
-- document but `false`, and array elements that are no names are left out.
return function(json, loose)
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
      seen[name] = true
      count = count + 1
      names[count] = name
    end
  end
  return names
end
