-- The options of a template's children as the template stores them: a JSON object of texts; `{}` if there are none.
-- Takes: the words by name; the options that are stored, by name; the command as its errors name it
-- Refuses: wrong values
return function(given, stored, who)
  local read = {}
  for name, value in pairs(given) do read[name] = value ~= '' and value or nil end
  need('option/read')(read, who)
  for _, name in ipairs({'throttles', 'lock', 'key', 'dup', 'until', 'ttl', 'score', 'rescore', 'hold', 'backoff'}) do
    if given[name] then stored[name] = given[name] ~= '' and given[name] or nil end
  end
  if not stored.key then
    for _, name in ipairs({'dup', 'until', 'ttl', 'score', 'rescore', 'hold'}) do
      if stored[name] then error(who .. '(): "' .. name .. '" cannot be used without "key"') end
    end
  end
  return cjson.encode(stored)
end
