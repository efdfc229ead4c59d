-- The stored identifier patterns; if there are none, the patterns that an older qmore stored. `default` is always among
-- them.
-- Result: a JSON object of texts by name; each text is a JSON array of patterns
return function()
  local reply = redis.call('hgetall', Keys.identifier_patterns)
  if not reply[1] then
    -- The key of an older qmore has no prefix. A user may have no right to read it, and in a cluster it may be on
    -- another node: ignore the error.
    reply = redis.pcall('hgetall', Keys.legacy_identifiers)
    if reply.err then reply = {} end
  end
  local patterns, names, parts = {default = '["*"]'}, {}, {}
  for i = 1, #reply, 2 do patterns[reply[i]] = reply[i + 1] end
  for name in pairs(patterns) do names[#names + 1] = name end
  table.sort(names)
  for i = 1, #names do parts[i] = cjson.encode(names[i]) .. ':' .. cjson.encode(patterns[names[i]]) end
  return '{' .. table.concat(parts, ',') .. '}'
end, true
