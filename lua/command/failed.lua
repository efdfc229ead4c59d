-- The number of failed jobs of each group, or a page of the jids of one group, newest first.
-- Takes: [group [start [limit]]]
-- Refuses: a start or limit that is not a number
return function(argv)
  local call = redis.call
  local group = argv[3]
  local start, limit = tonumber(argv[4] or 0), tonumber(argv[5] or 25)
  if not start then error('Failed(): Arg "start" is not a number: ' .. argv[4]) end
  if not limit then error('Failed(): Arg "limit" is not a number: ' .. argv[5]) end
  if group then
    local key = Keys.group .. group
    return '{"total":' .. call('llen', key) .. ',"jobs":' ..
      cjson.encode(call('lrange', key, start, start + limit - 1)) .. '}'
  end
  local groups, parts = call('smembers', Keys.failures), {}
  for i = 1, #groups do
    parts[i] = cjson.encode(groups[i]) .. ':' .. call('llen', Keys.group .. groups[i])
  end
  return '{' .. table.concat(parts, ',') .. '}'
end, true
