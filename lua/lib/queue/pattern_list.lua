-- Checks a decoded list of patterns.
-- Takes: the decoded document
-- Result: the document
-- Refuses: a document that is not a list of texts
return function(list)
  local count = 0
  if type(list) ~= 'table' then error('Patterns(): not a JSON array of patterns') end
  for at, pattern in pairs(list) do
    if type(at) ~= 'number' or type(pattern) ~= 'string' then error('Patterns(): not a JSON array of patterns') end
    count = count + 1
  end
  if count ~= #list then error('Patterns(): not a JSON array of patterns') end
  return list
end
