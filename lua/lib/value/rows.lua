-- Makes a list with a row for each name, in their order. A repeated name gets one row, which is made once.
-- Takes: names; a function that makes the row of a name, or returns false
return function(names, row_of)
  local reply, rows = {}, {}
  for i = 1, #names do
    local name = names[i]
    if rows[name] == nil then rows[name] = row_of(name) end
    reply[i] = rows[name]
  end
  return reply
end
