-- Sorts texts by their bytes. The order of Lua is the server's locale, which agrees only for digits and
-- lower-case letters. Other texts are compared by their hexadecimal digits.
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
