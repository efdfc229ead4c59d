-- config.get: [key]
-- Answers a setting, or its default; without a key all settings.
return function(argv)
  local key = argv[3]
  local value = key and redis.call('hget', Keys.config, key)
  if value then return value end
  if key == 'heartbeat' then return 60 end
  local all = {
    application = 'qless',
    ['grace-period'] = 10,
    heartbeat = 60,
    ['histogram-history'] = 7,
    ['jobs-history'] = 604800,
    ['jobs-history-count'] = 50000,
    ['stats-history'] = 30,
  }
  if key then return all[key] end
  local stored = redis.call('hgetall', Keys.config)
  for i = 1, #stored, 2 do all[stored[i]] = stored[i + 1] end
  return cjson.encode(all)
end
