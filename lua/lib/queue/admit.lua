-- Decides for one pop which jobs with a lane or throttles it may grant, and takes their slots. The other jobs are held
-- until a slot or the lane is free: the caller removes them from the work set or the locks.
-- Takes: now; t; seconds; queue; the gate (throttle/gate); `defaults` of the queue, or nil, and `limit` (the setting
--   `max-job-history`)
-- Result: a function of jid, job (reply of job/read), whether its lock was lost, and its score in the work set, if the
--   caller has read it; it returns whether the pop may grant the job. For queue/grant, it stores in the job `ext`, the
--   reply of job/extension, and `fenced`, whether the job gets a fencing token
-- Publishes: as throttle/hold and merge/vanish
local Job = Fields('job/read')
local Ext = Fields('job/extension')

return function(now, t, seconds, queue, gate, settings)
  local call, decode, hold, defaults = redis.call, need('job/tags'), nil, settings.defaults
  return function(jid, job, lost, score)
    local key = Keys.job .. jid
    -- Other clients put jobs without throttles: give such a job the throttles of its queue's defaults now.
    local list, maxima = need('option/throttles_at_pop')(defaults, queue, job)
    if list then
      gate.give(maxima)
      job[Job.throttles] = cjson.encode(list)
      call('hset', key, 'throttles', job[Job.throttles])
    end
    local backs_off = defaults and defaults.backoff
    if not job[Job.throttles] and not backs_off then return true end
    local ext = need('job/extension')(jid)
    job.ext = ext
    if backs_off and (not ext[Ext.backoff] or ext[Ext.backoff] == '[]' or ext[Ext.backoff] == '{}') then
      ext[Ext.backoff], job[Job.throttles] = defaults.backoff, job[Job.throttles] or '[ ]'
      call('hmset', key, 'backoff', defaults.backoff, 'throttles', job[Job.throttles])
    end
    local lane, stored = ext[Ext.key], job[Job.throttles]
    if job[Job.queue] ~= queue then call('hset', key, 'queue', queue) end
    if lane then
      if not need('lane/admit')(now, t, lane, jid, queue) then return false end
      if ext[Ext.dup] == 'merge' and (lost or job[Job.state] == 'stalled') then
        need('merge/absorb')(now, jid, lane, queue)
        job[Job.data] = need('merge/compose')(jid)
        call('hset', key, 'data', job[Job.data])
      end
    end
    local ids = decode(stored)
    job.fenced = lane or ids[1]
    local id = gate.full(jid, ids)
    if id then
      score = not lost and tonumber(score or call('zscore', Keys.queue .. queue .. Keys.work, jid))
      hold = hold or need('throttle/hold')
      hold(seconds, jid, queue, id, score and string.format('%.17g', -score) or '-inf', settings.limit)
      return false
    end
    gate.take(jid, ids)
    return true
  end
end
