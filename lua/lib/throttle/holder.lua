-- Decides whether the job that holds a slot of a throttle keeps it.
-- Takes: now; id; jid of the holder; the queue of the caller, whose expired locks are left to its pop; grace period
-- Result: nil if it keeps the slot; `lost` if it does not run, or not with this throttle; `expired` if it runs in
--   another queue and its lock expired longer ago than the grace period. Then also its queue, and the stored `grace`
local Job = Fields('state', 'queue', 'expires', 'grace', 'throttles')

return function(now, id, jid, own, grace)
  local job = redis.pcall('hmget', Keys.job .. jid, unpack(Job))
  local queue, expires = job[Job.queue], tonumber(job[Job.expires])
  local carries = false
  for _, name in ipairs(need('job/tags')(job[Job.throttles])) do carries = carries or name == id end
  if job[Job.state] ~= 'running' or not carries then return 'lost' end
  if queue and queue ~= own and expires and expires + grace <= now then return 'expired', queue, job[Job.grace] end
end
