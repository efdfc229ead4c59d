-- The stored identifier patterns, also of an older qmore. `default` is always one of them.
-- Result: a JSON object of texts by name; each text is a JSON array of patterns
return function()
  local reply = redis.call('hgetall', Keys.identifier_patterns)
  if not reply[1] then
    -- The legacy key has no prefix: a user may have no right to it, and a cluster another node for it.
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
