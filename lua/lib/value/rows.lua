-- Makes a row for each name, in their order. A name that comes again is read once.
-- Takes: names; a function that makes the row of a name, or false
return function(names, row_of)
  local reply, rows = {}, {}
  for i = 1, #names do
    local name = names[i]
    if rows[name] == nil then rows[name] = row_of(name) end
    reply[i] = rows[name]
  end
  return reply
end
