-- The numbers of running and of stalled jobs of each known worker, last seen first; or the jids of the jobs of one
-- worker. Before that, forgets workers that were not seen for `max-worker-age` seconds.
-- Takes: [worker], or an empty name and the positions of the first and of the last worker, -1 the last of all. In the
--   script for qless-php, an empty name without positions means all
-- Refuses: positions that are not whole numbers
local function position(name, text, default)
  local n = tonumber(text or default)
  if not n then error('Workers(): Arg "' .. name .. '" not a number: ' .. text) end
  need('value/integer')(n)
  return n
end

return function(argv, now, t)
  local call = redis.call
  local worker, first, last = argv[3], 0, -1
  if worker == '' and (argv[4] or php) then
    worker, first, last = nil, position('start', argv[4], 0), position('last', argv[5], -1)
  end
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
  local names, parts = call('zrevrange', Keys.workers, first, last), {}
  if not names[1] then return '{}' end
  for i = 1, #names do
    local held = Keys.worker .. names[i] .. Keys.held
    parts[i] = '{"stalled":' .. call('zcount', held, 0, t) .. ',"name":' .. cjson.encode(names[i]) .. ',"jobs":' ..
      call('zcount', held, t, horizon) .. '}'
  end
  return '[' .. table.concat(parts, ',') .. ']'
end
