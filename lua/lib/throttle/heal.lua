-- Frees slots of a full throttle whose holders do not run. Checks only the three oldest holders. If a holder's lock in
-- another queue expired longer ago than the grace period, handles that lock as a pop of the other queue would: perhaps
-- no worker pops there.
-- Takes: now; t; seconds; id; the queue of the caller;
--   the set of jids that got their slots in this call and do not run yet
-- Result: how many slots were dropped
-- Publishes: as queue/expire_locks
local Job = Fields('job/read')

-- Handles an expired lock as a pop of the job's queue would, but grants the job to no worker: the job fails, is
-- scheduled, or becomes the first of its queue as after `timeout`.
-- Takes: now; t; seconds; jid; queue; grace: 0 if the holder was not warned before
-- Publishes: as queue/expire_locks
local function expire_holder(now, t, seconds, jid, queue, grace)
  local call, key, base = redis.call, Keys.job .. jid, Keys.queue .. queue
  local jids, jobs = need('queue/expire_locks')(now, t, seconds, queue, {jid}, {grace = grace})
  if not jids[1] then return end
  call('hmset', key, 'state', 'stalled', 'expires', '0', 'remaining', jobs[1][Job.remaining])
  call('hdel', key, 'grace')
  call('zrem', base .. Keys.locks, jid)
  call('zadd', base .. Keys.work, '+inf', jid)
  need('ending/extended')(now, t, seconds, 'timeout', {jid = jid, queue = queue, throttles = jobs[1][Job.throttles]})
end

return function(now, t, seconds, id, own, fresh)
  local call, locks = redis.call, Keys.throttle .. id .. Keys.locks
  local grace = need('value/number')(redis.pcall('hget', Keys.config, 'grace-period')) or 10
  local dropped, oldest, judge = 0, call('zrange', locks, 0, 2), need('throttle/holder')
  for i = 1, #oldest do
    local jid = oldest[i]
    local fault, queue, warned = judge(now, id, jid, own, grace)
    if fault and not fresh[jid] then
      local lost = true
      if fault == 'expired' then
        expire_holder(now, t, seconds, jid, queue, warned == '1' and 10 or 0)
        lost = call('hget', Keys.job .. jid, 'state') ~= 'running'
      end
      if lost then
        -- Free the slot. The end of the job may have done that already.
        call('zrem', locks, jid)
        dropped = dropped + 1
      end
    end
  end
  return dropped
end
