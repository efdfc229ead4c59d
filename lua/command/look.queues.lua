-- The counts of queues, their pauses, and since when the next job to pop has waited (`head`).
-- Writes nothing.
-- Takes: [queue ...]; without names all known queues
-- Result: per queue: name, value, ...; without names, if there are more than 5000, only their number
-- Refuses: more than 10000 names
local most = 5000

return function(argv, now, t)
  local call = redis.call
  if argv[10003] then error('Look(): more than 10000 queues') end
  local queues = need('value/args_from')(argv, 3)
  if not queues[1] then
    local count = call('zcard', Keys.queues)
    if count > most then return {'' .. count} end
    queues = call('zrange', Keys.queues, 0, -1)
  end
  local entry_time = need('history/entry_time')
  return need('value/rows')(queues, function(queue)
    local base = Keys.queue .. queue
    local lapsed = call('zcount', base .. Keys.locks, '-inf', t)
    local taken = call('zcount', base .. Keys.work, '+inf', '+inf')
    local due = call('zcount', base .. Keys.scheduled, '-inf', t)
    local text
    local pause, paused = {}, call('sismember', Keys.paused, queue) == 1
    if paused then
      text = call('hget', Keys.pauses, queue)
      local ok, decoded = pcall(cjson.decode, text or '')
      if ok and type(decoded) == 'table' then pause = decoded end
      local till = tonumber(pause['until'])
      if till and till <= now then paused, pause = false, {} end
    end
    local function stored(name)
      local value = pause[name]
      -- A number as it is stored: decoding would leave 14 digits.
      if type(value) == 'number' then value = string.match(text, '"' .. name .. '":(-?[%d.eE+]+)') or '' .. value end
      return type(value) == 'string' and value
    end
    local head = call('zrevrange', base .. Keys.work, 0, 0)[1]
      or call('zrangebyscore', base .. Keys.scheduled, '-inf', t, 'LIMIT', 0, 1)[1]
    local since = false
    if head then
      local newest = redis.pcall('lrange', Keys.job .. head .. Keys.history, -1, -1)
      since = need('job/waits_since')(now, head, queue, not newest.err and entry_time(newest[1]) or nil) or false
    end
    return {
      'name', queue,
      'known', call('zscore', Keys.queues, queue) and '1' or '0',
      'running', '' .. call('zcard', base .. Keys.locks) - lapsed,
      'stalled', '' .. lapsed + taken,
      'waiting', '' .. call('zcard', base .. Keys.work) - taken + due,
      'scheduled', '' .. call('zcard', base .. Keys.scheduled) - due,
      'depends', '' .. call('zcard', base .. Keys.depends),
      'throttled', '' .. call('zcard', base .. Keys.throttled),
      'recurring', '' .. call('zcard', base .. Keys.recur),
      'paused', paused and '1' or '0',
      'since', stored('since'),
      'until', stored('until'),
      'reason', stored('reason'),
      'by', stored('by'),
      'head', since,
    }
  end)
end
