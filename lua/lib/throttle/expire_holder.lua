-- Gives a job whose lock expired the step that a pop of its queue would give it, without a worker that takes it: it
-- fails, or is the first of its queue, as after `timeout`.
-- Takes: now; t; seconds; jid; queue; grace: 0 if the holder was not warned before
-- Publishes: as queue/expire_locks
local Job = Fields('job/read')

return function(now, t, seconds, jid, queue, grace)
  local call, key, base = redis.call, Keys.job .. jid, Keys.queue .. queue
  local jids, jobs = need('queue/expire_locks')(now, t, seconds, queue, {jid}, grace)
  if not jids[1] then return end
  call('hmset', key, 'state', 'stalled', 'expires', '0', 'remaining', jobs[1][Job.remaining])
  call('hdel', key, 'grace')
  call('zrem', base .. Keys.locks, jid)
  call('zadd', base .. Keys.work, '+inf', jid)
  need('ending/extended')(now, t, seconds, jid, 'timeout', queue, jobs[1][Job.throttles])
end
