-- Schedules jobs whose lock expired and that have a back-off for lost locks: the job's own, or that of the settings
-- `backoff-initial-delay` and `backoff-factor`.
-- Takes: now; t; seconds; queue
-- Result: a function of jid, job (the reply of job/read for `lost`) and the remaining tries. It returns whether it
--   scheduled the job. The caller then removes the expired lock
-- Publishes: as ending/extended
local Lost = Fields('job/read')

-- Computes the delay of a job after a lost lock: the initial delay times the factor to the power of the used tries.
-- Takes: the stored back-off of the job, or false; stored retries; remaining tries; the stored settings
--   `backoff-initial-delay` and `backoff-factor`
-- Result: the delay in seconds; 0 if the job may run again immediately
local function lost_lock_delay(text, retries, left, initial_delay, factor)
  local number = need('value/number')
  local own = text and need('option/lost_lock')(text) or {}
  local first, base = own.initial_delay or number(initial_delay) or 0, own.factor or number(factor)
  if first <= 0 then return 0 end
  if not base or base < 0 then base = 3 end
  return math.min(first * base ^ (math.floor(number(retries) or 5) - left), need('value/longest_delay')())
end

return function(now, t, seconds, queue)
  local call = redis.call
  local settings = redis.pcall('hmget', Keys.config, 'backoff-initial-delay', 'backoff-factor')
  return function(jid, job, left)
    local delay = lost_lock_delay(job[Lost.backoff], job[Lost.retries], left, settings[1], settings[2])
    if delay <= 0 then return false end
    local key, schedule = Keys.job .. jid, Keys.queue .. queue .. Keys.scheduled
    -- If the set of scheduled jobs has a wrong type, let the job run immediately: the damage must not stop the queue.
    if type(redis.pcall('zadd', schedule, now + delay, jid)) ~= 'number' then return false end
    call('hmset', key, 'state', 'scheduled', 'worker', '', 'expires', '0', 'remaining', left, 'queue', queue)
    if job[Lost.grace] then call('hdel', key, 'grace') end
    if job[Lost.throttles] then
      need('ending/extended')(now, t, seconds, 'retry', {jid = jid, queue = queue, throttles = job[Lost.throttles]})
    end
    return true
  end
end
