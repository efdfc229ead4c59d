-- Drops slots of a full throttle whose holders do not run. Only its three oldest holders are looked at. A holder in
-- another queue whose lock expired longer ago than the grace period gets the step that a pop of that queue would
-- give it: nobody may pop there.
-- Takes: now; t; seconds; id; the queue of the caller, whose own locks are the matter of its pop;
--   the set of jids that got their slots in this call and do not run yet
-- Returns: how many slots were dropped
-- Publishes: as throttle/expire_holder
local Job = Fields('state', 'queue', 'expires', 'grace', 'throttles')

return function(now, t, seconds, id, own, fresh)
  local call, locks = redis.call, Keys.throttle .. id .. Keys.locks
  local grace = need('value/number')(redis.pcall('hget', Keys.config, 'grace-period')) or 10
  local dropped, oldest = 0, call('zrange', locks, 0, 2)
  for i = 1, #oldest do
    local jid = oldest[i]
    local job = redis.pcall('hmget', Keys.job .. jid, unpack(Job))
    local queue, expires = job[Job.queue], tonumber(job[Job.expires])
    local carries = false
    for _, name in ipairs(need('job/tags')(job[Job.throttles])) do carries = carries or name == id end
    local lost = not fresh[jid] and (job[Job.state] ~= 'running' or not carries)
    if not lost and not fresh[jid] and queue and queue ~= own and expires and expires + grace <= now then
      need('throttle/expire_holder')(now, t, seconds, jid, queue, job[Job.grace] == '1' and 10 or 0)
      lost = call('hget', Keys.job .. jid, 'state') ~= 'running'
    end
    if lost then dropped = dropped + call('zrem', locks, jid) end
  end
  return dropped
end
