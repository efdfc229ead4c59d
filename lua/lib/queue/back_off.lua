-- Schedules jobs that lost their lock and have a back-off for that: their own, or that of the settings
-- `backoff-initial-delay` and `backoff-factor`.
-- Takes: now; t; seconds; queue
-- Returns: a function of jid, job (the reply of job/read for `lost`) and the remaining tries; it returns whether it
--   scheduled the job, whose lock the caller removes
-- Publishes: as ending/extended
local Lost = Fields('job/read')

return function(now, t, seconds, queue)
  local call = redis.call
  local settings = redis.pcall('hmget', Keys.config, 'backoff-initial-delay', 'backoff-factor')
  local delay_of = need('option/lost_lock_delay')
  return function(jid, job, left)
    local delay = delay_of(job[Lost.backoff], job[Lost.retries], left, settings[1], settings[2])
    if delay <= 0 then return false end
    local key, schedule = Keys.job .. jid, Keys.queue .. queue .. Keys.scheduled
    -- A key of another type must not stop a queue: the job runs again immediately then.
    if type(redis.pcall('zadd', schedule, now + delay, jid)) ~= 'number' then return false end
    call('hmset', key, 'state', 'scheduled', 'worker', '', 'expires', '0', 'remaining', left, 'queue', queue)
    if job[Lost.grace] then call('hdel', key, 'grace') end
    if job[Lost.throttles] then need('ending/extended')(now, t, seconds, jid, 'retry', queue, job[Lost.throttles]) end
    return true
  end
end
