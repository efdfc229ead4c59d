-- Reads a throttle as JSON: id, maximum, and the seconds until the maximum expires (-1: never, -2: no maximum is set).
-- Takes: id
-- Refuses: a missing id
return function(argv)
  local id = argv[3]
  if not id then error('Throttle(): Arg "id" missing') end
  return '{"id":' .. cjson.encode(id) .. ',"maximum":' .. string.format('%.0f', need('throttle/maximum')(id)) ..
    ',"ttl":' .. redis.call('ttl', Keys.throttle .. id) .. '}'
end, true
