-- Reads the fields of a job that makes other jobs wait: it holds a slot, a lock or a lane. Writes nothing.
-- Takes: now; jid
-- Result: jid, klass, queue, state, worker, and when the worker was seen last; '' for an unknown field
local Job = Fields('klass', 'queue', 'state', 'worker')

return function(now, jid)
  local pcall = redis.pcall
  local job = pcall('hmget', Keys.job .. jid, unpack(Job))
  local queue, state, worker = job[Job.queue] or '', job[Job.state] or '', job[Job.worker] or ''
  local ends = state == 'running' and pcall('zscore', Keys.queue .. queue .. Keys.locks, jid)
  if type(ends) == 'string' and tonumber(ends) <= now then state = 'stalled' end
  local seen = pcall('zscore', Keys.workers, worker)
  return {jid, job[Job.klass] or '', queue, state, worker, type(seen) == 'string' and seen or ''}
end
