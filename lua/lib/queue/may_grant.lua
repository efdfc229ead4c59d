-- Returns whether a pop may grant a waiting job: it is the first of its lane, and each of its throttles has a slot for
-- it. Writes nothing.
-- Takes: now; queue; jid; the reply of job/read; the stored `<queue>-defaults`, or false
local Job = Fields('job/read')

return function(now, queue, jid, job, defaults)
  local d = defaults and need('option/defaults')(defaults)
  local lane = job[Job.throttles] and redis.call('hget', Keys.job .. jid, 'key')
  if lane and not need('lane/is_first')(lane, jid) then return false end
  local ids, maxima = need('option/throttles_at_pop')(d, queue, job)
  ids = ids or need('job/tags')(job[Job.throttles])
  return not ids[1] or need('throttle/would_run')(now, queue, maxima)(jid, ids)
end
