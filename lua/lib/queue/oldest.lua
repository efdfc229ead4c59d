-- The oldest job of a queue that is due and has not run. Jobs of one priority stand in the order of their
-- arrival, so it is the first job of some priority: up to 20 priorities are read, of waiting jobs and of those that
-- throttles hold. Due jobs of the schedule count from their time. Of jobs that wait for others, those count that wait
-- only for the job before them in their lane: the first 20 are read.
-- Takes: now; t; queue; queue/counts, if they are known
-- Result: since when, as text; the jid; `waiting`, or `throttled` or `ordered` if a throttle or its lane holds it, or
--   `limited` if its queue runs as many jobs as it may; then the throttle without a free slot (false if all have one),
--   or the lane. Nil if no job waits
local Behind = Fields('key', 'scheduled')

return function(now, t, queue, counts)
  local call, number = redis.call, need('value/number')
  local base = Keys.queue .. queue
  local oldest, since, which, how
  local function consider(jid, text, why)
    local when = tonumber(text)
    if when and when <= now and (not oldest or when < oldest) then oldest, since, which, how = when, text, jid, why end
  end
  -- Reading the ends of a sorted set costs the same however long it is. `sign` is -1 if the scores are negative.
  local function by_priority(key, why, sign)
    local first = call(sign > 0 and 'zrevrange' or 'zrange', key, 0, 0, 'WITHSCORES')
    if not first[1] then return end
    local lowest = sign * tonumber(call(sign > 0 and 'zrange' or 'zrevrange', key, 0, 0, 'WITHSCORES')[2])
    for _ = 1, 20 do
      if not first[1] then break end
      local score = sign * tonumber(first[2])
      local priority = math.ceil(score)
      -- A score is the priority less the time of arrival in units of 10^10 seconds. After `priority` it is the
      -- priority itself, and infinity after a revoked lock: these jobs stand before the others of this priority.
      local arrival = (priority - score) * 10000000000
      if score ~= priority and arrival <= now then
        consider(first[1], string.format('%.3f', arrival), why)
      else
        local newest = redis.pcall('lrange', Keys.job .. first[1] .. Keys.history, -1, -1)
        consider(first[1], not newest.err and need('history/entry_time')(newest[1]) or '', why)
      end
      if lowest == score or score ~= priority and lowest > priority - 1 then break end
      local open = score == priority and '(' or ''
      local below = open .. string.format('%.17g', sign * (open == '' and priority - 1 or score))
      if sign > 0 then
        first = call('zrevrangebyscore', key, below, '-inf', 'WITHSCORES', 'LIMIT', 0, 1)
      else
        first = call('zrangebyscore', key, below, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
      end
    end
  end
  by_priority(base .. Keys.work, 'waiting', 1)
  if not counts or counts.due > 0 then
    local due = call('zrangebyscore', base .. Keys.scheduled, '-inf', t, 'WITHSCORES', 'LIMIT', 0, 1)
    if due[1] then consider(due[1], due[2], 'waiting') end
  end
  -- One command for the usual case.
  if (counts and counts.throttled + counts.depends or call('exists', base .. Keys.throttled, base .. Keys.depends)) > 0
  then
    by_priority(base .. Keys.throttled, 'throttled', -1)
    local behind = call('zrange', base .. Keys.depends, 0, 19, 'WITHSCORES')
    for i = 1, #behind, 2 do
      local jid = behind[i]
      local job = redis.pcall('hmget', Keys.job .. jid, unpack(Behind))
      local lane = job[Behind.key]
      if lane and redis.pcall('scard', Keys.job .. jid .. Keys.dependencies) == 1
        and not need('lane/is_first')(lane, jid) then
        local put, at = number(behind[i + 1]) or now, number(job[Behind.scheduled]) or 0
        consider(jid, string.format('%.3f', math.max(put, at)), 'ordered')
      end
    end
  end
  if not which then return nil end
  if how == 'ordered' then return since, which, how, call('hget', Keys.job .. which, 'key') end
  local stored = redis.pcall('hget', Keys.job .. which, 'throttles')
  for _, id in ipairs(type(stored) == 'string' and need('job/tags')(stored) or {}) do
    local most, taken = need('throttle/maximum')(id), redis.pcall('zcard', Keys.throttle .. id .. Keys.locks)
    if most ~= 0 and type(taken) == 'number' and taken >= most then
      return since, which, 'throttled', id
    end
  end
  if how == 'waiting' and need('queue/is_full')(t, queue) then how = 'limited' end
  return since, which, how, false
end
