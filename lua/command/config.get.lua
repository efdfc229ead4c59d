-- The value of a setting, or its default if it is not set. Without a key, all settings as a JSON object.
-- Takes: [key]
return function(argv)
  local key = argv[3]
  local value = key and redis.call('hget', Keys.config, key)
  if value then return value end
  if key == 'heartbeat' then return 60 end
  local all = need('value/defaults')()
  if key then return all[key] end
  local stored = redis.call('hgetall', Keys.config)
  for i = 1, #stored, 2 do all[stored[i]] = stored[i + 1] end
  return cjson.encode(all)
end, true
