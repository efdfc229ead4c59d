-- Returns the oldest wait in a queue. Jobs of one priority stand in the order of their arrival, so it is that of
-- the first job of some priority: up to 20 priorities are read. Due jobs of the schedule count from their time.
-- Takes: now; t; queue
-- Returns: since when, as text; the jid; nil if no job waits
return function(now, t, queue)
  local call = redis.call
  local base = Keys.queue .. queue
  local oldest, since, which
  local function consider(jid, text)
    local when = tonumber(text)
    if when and when <= now and (not oldest or when < oldest) then oldest, since, which = when, text, jid end
  end
  -- Reading the ends of a sorted set costs the same however long it is.
  local first = call('zrevrange', base .. Keys.work, 0, 0, 'WITHSCORES')
  local lowest = tonumber(call('zrange', base .. Keys.work, 0, 0, 'WITHSCORES')[2])
  for _ = 1, 20 do
    if not first[1] then break end
    local score = tonumber(first[2])
    local priority = math.ceil(score)
    -- A score is the priority less the time of arrival in units of 10^10 seconds. After `priority` it is the
    -- priority itself, and infinity after a revoked lock: these jobs stand before the others of this priority.
    local arrival = (priority - score) * 10000000000
    if score ~= priority and arrival <= now then
      consider(first[1], string.format('%.3f', arrival))
    else
      local newest = redis.pcall('lrange', Keys.job .. first[1] .. Keys.history, -1, -1)
      consider(first[1], not newest.err and need('history/entry_time')(newest[1]) or '')
    end
    if lowest == score or score ~= priority and lowest > priority - 1 then break end
    local below = score == priority and string.format('(%.17g', score) or string.format('%.17g', priority - 1)
    first = call('zrevrangebyscore', base .. Keys.work, below, '-inf', 'WITHSCORES', 'LIMIT', 0, 1)
  end
  local due = call('zrangebyscore', base .. Keys.scheduled, '-inf', t, 'WITHSCORES', 'LIMIT', 0, 1)
  if due[1] then consider(due[1], due[2]) end
  return since, which
end
