-- When workers were last seen and how many jobs they hold. Writes nothing.
-- Takes: [worker ...]; without names all known workers that were seen recently, newest first
-- Result: per worker: name, value, ...; without names, if there are more than 5000, only their number
-- Refuses: more than 10000 names
local max_rows = 5000

return function(argv, now, t)
  local call = redis.call
  if argv[10003] then error('Look(): more than 10000 workers') end
  local workers = need('value/args_from')(argv, 3)
  local since = need('worker/recent_since')(now)
  if not workers[1] then
    local first = string.format('(%.17g', since)
    local count = call('zcount', Keys.workers, first, '+inf')
    if count > max_rows then return {'' .. count} end
    workers = call('zrevrangebyscore', Keys.workers, '+inf', first)
  end
  local row = need('worker/row')
  return need('value/rows')(workers, function(worker)
    local seen = call('zscore', Keys.workers, worker)
    return row(t, worker, seen, seen and tonumber(seen) > since)
  end)
end
