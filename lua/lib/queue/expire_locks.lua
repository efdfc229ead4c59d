-- Handles expired locks. At the first expiry, warns the holder and extends the lock by `grace-period`. At the second,
-- the job fails if no retry is left. Else it is scheduled if it has a back-off, or returned to be granted again. Locks
-- of jobs that do not run are removed.
-- Takes: now; t; seconds; queue; jids with expired locks; `grace`, the grace period, and `limit`, the setting
--   `max-job-history`
-- Result: jids and jobs (replies of job/read) to grant again
-- Publishes: `lock_lost` to the holder and to the log; the jid to `stalled` or `failed` if tracked; `failed` to
--   the log; as ending/extended and failure/forget_old
local Lost = Fields('job/read')

local call = redis.call

return function(now, t, seconds, queue, lost, settings)
  local grace, limit = settings.grace, settings.limit
  local locks = Keys.queue .. queue .. Keys.locks
  local jids, jobs = {}, {}
  -- `append` runs in a pcall below, so that a history that is not a list does not stop the other jobs.
  local read, append = need('job/read'), need('history/append')
  local in_chunks, tries_left = need('value/in_chunks'), need('job/tries_left')
  local tracked = call('exists', Keys.tracked) == 1
  local held, drop, renew, warned, failed = {}, {}, {}, 0, {}
  local back_off
  local extended = string.format('%.17g', now + grace)
  for i = 1, #lost do
    local jid = lost[i]
    local key, job = Keys.job .. jid, read(jid, 'lost')
    local state, worker = job[Lost.state], job[Lost.worker]
    if not job[Lost.jid] and (job[Lost.klass] or job[Lost.data] or job.err) then
      -- Too few fields are left for the job to run: renew its lock for a minute, so that pops reach further locks.
      renew[#renew + 1], renew[#renew + 2] = string.format('%.17g', now + 60), jid
    elseif not job[Lost.jid]
      or job[Lost.queue] and job[Lost.queue] ~= queue
      and call('zscore', Keys.queue .. job[Lost.queue] .. Keys.locks, jid)
      or state == 'waiting' or state == 'scheduled' or state == 'depends' or state == 'stalled'
      or state == 'failed' or state == 'complete' then
      drop[#drop + 1] = jid
      if not job[Lost.jid] then
        call('zrem', Keys.queue .. queue .. Keys.work, jid)
        call('zrem', Keys.queue .. queue .. Keys.scheduled, jid)
      end
    else
      local warn = job[Lost.grace] ~= '1' or grace <= 0
      local follow = tracked and type(redis.pcall('zscore', Keys.tracked, jid)) == 'string'
      if worker then
        local list = held[worker]
        if not list then
          list = {}
          held[worker] = list
        end
        list[#list + 1] = jid
      end
      if job[Lost.history] then
        need('history/migrate')(jid, job[Lost.history])
        job[Lost.history] = false
      end
      if warn then
        if follow then call('publish', Keys.on_stalled, jid) end
        pcall(append, jid, '[' .. seconds .. ',"timed-out"]', limit)
        need('job/lock_lost')(jid, worker or '')
        warned = warned + 1
        if grace > 0 then
          call('hset', key, 'grace', '1')
          renew[#renew + 1], renew[#renew + 2] = extended, jid
        end
      end
      if not warn or grace <= 0 then
        local left = tries_left(job[Lost.remaining], job[Lost.retries])
        back_off = back_off or need('queue/back_off')(now, t, seconds, queue)
        if left >= 0 and back_off(jid, job, left) then
          drop[#drop + 1] = jid
        elseif left >= 0 then
          job[Lost.remaining] = left
          jids[#jids + 1], jobs[#jobs + 1] = jid, job
        else
          local group = 'failed-retries-' .. (job[Lost.queue] or queue)
          local message = 'Job exhausted retries in queue "' .. queue .. '"'
          pcall(append, jid, '[' .. seconds .. ',"failed",{"group":' .. cjson.encode(group) .. '}]', limit)
          call('hmset', key, 'state', 'failed', 'worker', '', 'expires', '', 'remaining', left, 'failure',
            need('failure/encode')(group, message, seconds, ''))
          if job[Lost.grace] then call('hdel', key, 'grace') end
          if job[Lost.throttles] then
            local ended = {jid = jid, queue = job[Lost.queue] or queue, throttles = job[Lost.throttles]}
            need('ending/extended')(now, t, seconds, 'exhausted', ended)
          end
          drop[#drop + 1] = jid
          call('sadd', Keys.failures, group)
          call('lpush', Keys.group .. group, jid)
          failed[#failed + 1] = jid
          if follow then call('publish', Keys.on_failed, jid) end
          call('publish', Keys.on_log, need('failure/event')(jid, group, message, worker or ''))
        end
      end
    end
  end
  for worker, list in pairs(held) do in_chunks('zrem', Keys.worker .. worker .. Keys.held, list, 1, #list) end
  if drop[1] then in_chunks('zrem', locks, drop, 1, #drop) end
  if renew[1] then in_chunks('zadd', locks, renew, 1, #renew) end
  if warned + #failed > 0 then
    local day = Keys.stats .. now - now % 86400 .. ':' .. queue
    local count = need('stats/count')
    if warned > 0 then count(day, 'retries', warned) end
    if failed[1] then
      count(day, 'failures', #failed)
      count(day, 'failed', #failed)
      local age = need('failure/age')(redis.pcall('hget', Keys.config, 'jobs-failed-history'))
      if age then need('failure/forget_old')(now, t, failed, age) end
    end
  end
  return jids, jobs
end
