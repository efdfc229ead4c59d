-- Replaces all identifier patterns. Drops names with an empty list. A missing or dropped `default` becomes `["*"]`.
-- Takes: (name, JSON array of patterns) ...
-- Refuses: a name without patterns, text that is not a JSON array of texts
return function(argv)
  if #argv % 2 == 1 then error('Odd number of identifier patterns: ' .. #argv - 2) end
  local fields, has_default = {}, false
  local pattern_list = need('queue/pattern_list')
  for i = 3, #argv, 2 do
    if pattern_list(cjson.decode(argv[i + 1]))[1] then
      has_default = has_default or argv[i] == 'default'
      fields[#fields + 1], fields[#fields + 2] = argv[i], argv[i + 1]
    end
  end
  if not has_default then fields[#fields + 1], fields[#fields + 2] = 'default', '["*"]' end
  redis.call('del', Keys.identifier_patterns)
  redis.pcall('del', Keys.legacy_identifiers)
  for i = 1, #fields, 2 do redis.call('hset', Keys.identifier_patterns, fields[i], fields[i + 1]) end
end, true
