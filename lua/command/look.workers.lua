-- When workers were last seen and how many jobs they hold. Writes nothing.
-- Takes: [worker ...]; without names all known workers that were seen recently, newest first
-- Result: per worker: name, value, ...; without names, if there are more than 5000, only their number
-- Refuses: more than 10000 names
local most = 5000

return function(argv, now, t)
  local call = redis.call
  if argv[10003] then error('Look(): more than 10000 workers') end
  local workers = need('value/args_from')(argv, 3)
  local since = need('worker/recent_since')(now)
  if not workers[1] then
    local first = string.format('(%.17g', since)
    local count = call('zcount', Keys.workers, first, '+inf')
    if count > most then return {'' .. count} end
    workers = call('zrevrangebyscore', Keys.workers, '+inf', first)
  end
  return need('value/rows')(workers, function(worker)
    local held, seen = Keys.worker .. worker .. Keys.held, call('zscore', Keys.workers, worker)
    local jobs = call('zcard', held)
    -- Counting ends early if no lock has expired.
    local stalled = jobs > 0 and call('zcount', held, '-inf', t) or 0
    return {
      'name', worker,
      'seen', seen,
      'recent', seen and tonumber(seen) > since and '1' or '0',
      'running', '' .. jobs - stalled,
      'stalled', '' .. stalled,
    }
  end)
end
