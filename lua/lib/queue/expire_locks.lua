-- Handles expired locks. At the first expiry the holder is warned and gets `grace-period` further seconds. At
-- the second, the job is granted again, or fails if it has no tries left.
-- Takes: now; t; seconds; queue; jids with expired locks; grace period; the setting `max-job-history`
-- Returns: jids and jobs (replies of job/read) to grant again
-- Publishes: `lock_lost` to the holder and to the log; the jid to `stalled` or `failed` if tracked; `failed` to
--   the log; as ending/extended
local Job = Fields('job/read')

local call = redis.call

return function(now, t, seconds, queue, lost, grace, limit)
  local locks = Keys.queue .. queue .. Keys.locks
  local jids, jobs = {}, {}
  -- A history that is not a list must not stop the others: hence pcall around append.
  local read, append = need('job/read'), need('history/append')
  local in_chunks, whole_tries = need('value/in_chunks'), need('value/whole_tries')
  local tracked = call('exists', Keys.tracked) == 1
  local held, drop, renew, warned, failed = {}, {}, {}, 0, 0
  local extended = string.format('%.17g', now + grace)
  for i = 1, #lost do
    local jid = lost[i]
    local key, job = Keys.job .. jid, read(jid)
    local state, worker = job[Job.state], job[Job.worker]
    if not job[Job.jid] and (job[Job.klass] or job[Job.data] or job.err) then
      -- A remnant of a job cannot run, and must not hide the locks behind it.
      renew[#renew + 1], renew[#renew + 2] = string.format('%.17g', now + 60), jid
    elseif not job[Job.jid]
      or job[Job.queue] and job[Job.queue] ~= queue and call('zscore', Keys.queue .. job[Job.queue] .. Keys.locks, jid)
      or state == 'waiting' or state == 'scheduled' or state == 'depends' or state == 'stalled'
      or state == 'failed' or state == 'complete' then
      drop[#drop + 1] = jid
      if not job[Job.jid] then
        call('zrem', Keys.queue .. queue .. Keys.work, jid)
        call('zrem', Keys.queue .. queue .. Keys.scheduled, jid)
      end
    else
      local warn = job[Job.grace] ~= '1' or grace <= 0
      local follow = tracked and type(redis.pcall('zscore', Keys.tracked, jid)) == 'string'
      if worker then
        local list = held[worker]
        if not list then
          list = {}
          held[worker] = list
        end
        list[#list + 1] = jid
      end
      if job[Job.history] then
        need('history/migrate')(jid, job[Job.history])
        job[Job.history] = false
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
        local left = tonumber(job[Job.remaining]) or tonumber(job[Job.retries]) or 0
        if left - left ~= 0 then left = 0 end
        left = whole_tries(left) - 1
        if left >= 0 then
          job[Job.remaining] = left
          jids[#jids + 1], jobs[#jobs + 1] = jid, job
        else
          local group = 'failed-retries-' .. (job[Job.queue] or queue)
          local message = 'Job exhausted retries in queue "' .. queue .. '"'
          pcall(append, jid, '[' .. seconds .. ',"failed",{"group":' .. cjson.encode(group) .. '}]', limit)
          call('hmset', key, 'state', 'failed', 'worker', '', 'expires', '', 'remaining', left, 'failure',
            need('failure/encode')(group, message, seconds, ''))
          if job[Job.grace] then call('hdel', key, 'grace') end
          if job[Job.throttles] then
            need('ending/extended')(now, t, seconds, jid, 'exhausted', job[Job.queue] or queue, job[Job.throttles])
          end
          drop[#drop + 1] = jid
          call('sadd', Keys.failures, group)
          call('lpush', Keys.group .. group, jid)
          failed = failed + 1
          if follow then call('publish', Keys.on_failed, jid) end
          call('publish', Keys.on_log, need('failure/event')(jid, group, message, worker or ''))
        end
      end
    end
  end
  for worker, list in pairs(held) do in_chunks('zrem', Keys.worker .. worker .. Keys.held, list, 1, #list) end
  if drop[1] then in_chunks('zrem', locks, drop, 1, #drop) end
  if renew[1] then in_chunks('zadd', locks, renew, 1, #renew) end
  if warned + failed > 0 then
    local day = Keys.stats .. now - now % 86400 .. ':' .. queue
    local count = need('stats/count')
    if warned > 0 then count(day, 'retries', warned) end
    if failed > 0 then
      count(day, 'failures', failed)
      count(day, 'failed', failed)
    end
  end
  return jids, jobs
end
