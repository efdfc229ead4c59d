-- What `look.queues` tells of a queue: its counts, its pause, and since when the next job to pop has waited (`head`).
-- Takes: now; t; queue; queue/counts
-- Result: name, value, ...
return function(now, t, queue, counts)
  local call = redis.call
  local base = Keys.queue .. queue
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
  local head = counts.work > 0 and call('zrevrange', base .. Keys.work, 0, 0)[1]
    or counts.due > 0 and call('zrangebyscore', base .. Keys.scheduled, '-inf', t, 'LIMIT', 0, 1)[1]
  local since = false
  if head then
    local newest = redis.pcall('lrange', Keys.job .. head .. Keys.history, -1, -1)
    local put_at = not newest.err and need('history/entry_time')(newest[1]) or nil
    since = need('job/waits_since')(now, head, queue, put_at) or false
  end
  return {
    'name', queue,
    'known', call('zscore', Keys.queues, queue) and '1' or '0',
    'running', '' .. counts.locked - counts.lapsed,
    'stalled', '' .. counts.lapsed + counts.taken,
    'waiting', '' .. counts.work - counts.taken + counts.due,
    'scheduled', '' .. counts.scheduled - counts.due,
    'depends', '' .. counts.depends,
    'throttled', '' .. counts.throttled,
    'recurring', '' .. counts.recurring,
    'paused', paused and '1' or '0',
    'since', stored('since'),
    'until', stored('until'),
    'reason', stored('reason'),
    'by', stored('by'),
    'head', since,
  }
end
