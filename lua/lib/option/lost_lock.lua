-- Reads a job's back-off for lost locks: a JSON object with the members `initial_delay`, in seconds, and `factor`. Both
-- are optional. `[]` means an empty object.
-- Takes: text
-- Result: a table of the members; nil if the text is not such an object
return function(text)
  local ok, members = pcall(cjson.decode, text)
  if not ok or type(members) ~= 'table' then return nil end
  for name, value in pairs(members) do
    if name ~= 'initial_delay' and name ~= 'factor' then return nil end
    if type(value) ~= 'number' or value - value ~= 0 or value < 0 then return nil end
  end
  return members
end
