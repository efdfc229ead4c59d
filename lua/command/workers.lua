-- Returns how many jobs each known worker holds, most recent activity first; or the jids of one. Workers
-- that were not seen for `max-worker-age` seconds are forgotten first.
-- Takes: [worker]
return function(argv, now, t)
  local call = redis.call
  local worker = argv[3]
  local age = tonumber(redis.pcall('hget', Keys.config, 'max-worker-age'))
  if not age or age - age ~= 0 then age = 86400 end
  local gone = call('zrangebyscore', Keys.workers, 0, now - age)
  if gone[1] then
    for i = 1, #gone do call('del', Keys.worker .. gone[i] .. Keys.held) end
    need('value/in_chunks')('zrem', Keys.workers, gone, 1, #gone)
  end
  local horizon = string.format('%.17g', now + 8640000)
  if worker then
    local held = Keys.worker .. worker .. Keys.held
    return '{"stalled":' .. cjson.encode(call('zrevrangebyscore', held, t, 0)) .. ',"jobs":' ..
      cjson.encode(call('zrevrangebyscore', held, horizon, t)) .. '}'
  end
  local names, parts = call('zrevrange', Keys.workers, 0, -1), {}
  if not names[1] then return '{}' end
  for i = 1, #names do
    local held = Keys.worker .. names[i] .. Keys.held
    parts[i] = '{"stalled":' .. call('zcount', held, 0, t) .. ',"name":' .. cjson.encode(names[i]) .. ',"jobs":' ..
      call('zcount', held, t, horizon) .. '}'
  end
  return '[' .. table.concat(parts, ',') .. ']'
end
