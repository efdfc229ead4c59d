-- Reads the back-off of lost locks: a JSON object with the members `initial_delay`, in seconds, and `factor`. Either
-- may be missing; `[]` has none.
-- Takes: text
-- Result: the members; nil if the text is something else
return function(text)
  local ok, members = pcall(cjson.decode, text)
  if not ok or type(members) ~= 'table' then return nil end
  for name, value in pairs(members) do
    if name ~= 'initial_delay' and name ~= 'factor' then return nil end
    if type(value) ~= 'number' or value - value ~= 0 or value < 0 then return nil end
  end
  return members
end
