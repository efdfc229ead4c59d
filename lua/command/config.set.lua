-- Sets an option of the core.
-- Takes: key value
-- Refuses: a missing key or value
-- Publishes: `config_set` to the log
return function(argv)
  local key, value = argv[3], argv[4]
  if not key then error('config.set(): Arg "option" missing') end
  if not value then error('config.set(): Arg "value" missing') end
  redis.call('hset', Keys.config, key, value)
  redis.call('publish', Keys.on_log, '{"option":' .. cjson.encode(key) .. ',"event":"config_set","value":' ..
    cjson.encode(value) .. '}')
end, true
