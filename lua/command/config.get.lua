-- config.get: [key]
-- Answers a setting, or its default; without a key all settings.
return function(argv)
  local key = argv[3]
  if key then
    local value = redis.call('hget', Keys.config, key)
    if value then return value end
    return need('default')[key]
  end
  local all = {}
  for name, value in pairs(need('default')) do all[name] = value end
  local stored = redis.call('hgetall', Keys.config)
  for i = 1, #stored, 2 do all[stored[i]] = stored[i + 1] end
  return cjson.encode(all)
end
