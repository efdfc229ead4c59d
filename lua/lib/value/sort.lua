-- Sorts texts by their bytes. Lua compares texts by the server's locale, which is the order of the bytes only for
-- digits and lower-case letters. If a text has other characters, sorts all texts by their bytes as hexadecimal digits.
-- Takes: list
return function(list)
  local plain = true
  for i = 1, #list do
    if string.find(list[i], '[^0-9a-z]') then
      plain = false
      break
    end
  end
  if plain then
    table.sort(list)
    return list
  end
  local texts = {}
  local digits = setmetatable({}, {__index = function(known, char)
    known[char] = string.format('%02x', string.byte(char))
    return known[char]
  end})
  for i = 1, #list do
    local hex = string.gsub(list[i], '.', digits)
    list[i], texts[hex] = hex, list[i]
  end
  table.sort(list)
  for i = 1, #list do list[i] = texts[list[i]] end
  return list
end
