-- What `look.status` tells of a queue beside its counts: what happened today, since when its oldest job waits or runs,
-- and what keeps jobs from running.
-- Takes: now; t; queue; queue/counts; whether to read also how long jobs waited and ran today, and since when the
--   oldest runs
-- Result: name, value, ...
local call, pcall = redis.call, redis.pcall
local Today = Fields('failures', 'retries')

-- Since when the job of a queue runs that was popped first, of the four whose locks expire first.
local function oldest_running(t, base)
  local oldest
  local locked = call('zrangebyscore', base .. Keys.locks, '(' .. t, '+inf', 'LIMIT', 0, 4)
  for i = 1, #locked do
    local popped = tonumber(pcall('hget', Keys.job .. locked[i], 'time') or nil)
    if popped and (not oldest or popped < oldest) then oldest = popped end
  end
  return oldest and string.format('%.3f', oldest) or false
end

-- All fields of a hash of statistics; none if its key has another type.
local function all_fields(key)
  local fields = pcall('hgetall', key)
  return fields.err and {} or fields
end

-- The number of jobs in a hash of statistics.
local function total(key)
  local value = pcall('hget', key, 'total')
  return type(value) == 'string' and value or '0'
end

return function(now, t, queue, counts, spreads)
  local base, key = Keys.queue .. queue, now - now % 86400 .. ':' .. queue
  local due = counts.recurring > 0
    and call('zrangebyscore', base .. Keys.recur, 0, t, 'WITHSCORES', 'LIMIT', 0, 1)[2]
  local waits, jid, why, by = need('queue/oldest')(now, t, queue, counts)
  local throttle = why == 'throttled' and by
  local blocked, waiting, stuck, first_of_lane, worker = need('queue/urgent')(now, t, queue, throttle, counts)
  local today = pcall('hmget', Keys.stats .. key, unpack(Today))
  return {
    'name', queue,
    'popped', total(Keys.wait .. key),
    'completed', total(Keys.run .. key),
    'failures', today[Today.failures] or '0',
    'retries', today[Today.retries] or '0',
    'late', due and '' .. call('zcount', base .. Keys.recur, 0, t) or '0',
    'due', due or false,
    'running_since', spreads and counts.locked > 0 and oldest_running(t, base),
    'since', waits or false,
    'jid', jid or false,
    'why', why or false,
    'held_by', by or false,
    'throttle', blocked,
    'waiting', waiting and '' .. waiting,
    'lane', stuck,
    'first', first_of_lane,
    'worker', worker,
    'wait', spreads and all_fields(Keys.wait .. key),
    'run', spreads and all_fields(Keys.run .. key),
  }
end
