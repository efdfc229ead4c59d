-- Sorts texts by their bytes. (Lua's own order is that of the server's locale.)
return function(list)
  local byte, min = string.byte, math.min
  table.sort(list, function(a, b)
    for i = 1, min(#a, #b) do
      local x, y = byte(a, i), byte(b, i)
      if x ~= y then return x < y end
    end
    return #a < #b
  end)
  return list
end
