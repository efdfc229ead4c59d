-- Deletes a stored setting.
-- Takes: key
-- Refuses: a missing key
-- Publishes: `config_unset` to the log
return function(argv)
  local key = argv[3]
  if not key then error('config.unset(): Arg "option" missing') end
  redis.call('hdel', Keys.config, key)
  redis.call('publish', Keys.on_log, '{"event":"config_unset","option":' .. cjson.encode(key) .. '}')
end, true
