-- Returns the oldest wait in a queue. Jobs of one priority stand in the order of their arrival, so it is that of
-- the first job of some priority: up to 20 priorities are read. Due jobs of the schedule count from their time.
-- Takes: now; t; queue
-- Returns: since when, as text; the jid; nil if no job waits
return function(now, t, queue)
  local call, entry_time = redis.call, need('history/entry_time')
  local base, below = Keys.queue .. queue, '+inf'
  local oldest, since, which
  local function consider(jid, text)
    local when = tonumber(text or nil)
    if when and when <= now and (not oldest or when < oldest) then oldest, since, which = when, text, jid end
  end
  local function first_below(score)
    local first = call('zrevrangebyscore', base .. Keys.work, score, '-inf', 'WITHSCORES', 'LIMIT', 0, 1)
    if not first[1] then return end
    local newest = redis.pcall('lrange', Keys.job .. first[1] .. Keys.history, -1, -1)
    consider(first[1], not newest.err and entry_time(newest[1]) or nil)
    return tonumber(first[2])
  end
  for _ = 1, 20 do
    local score = first_below(below)
    if not score then break end
    -- A job whose lock was revoked is at infinity. After `priority`, the score is the priority itself: these
    -- jobs stand before the others of this priority, whose scores are less by a part of 1.
    if score == math.ceil(score) then
      below = string.format('(%.17g', score)
    else
      below = string.format('%.17g', math.ceil(score) - 1)
    end
  end
  local due = call('zrangebyscore', base .. Keys.scheduled, '-inf', t, 'WITHSCORES', 'LIMIT', 0, 1)
  if due[1] then consider(due[1], due[2]) end
  return since, which
end
