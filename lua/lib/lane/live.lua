-- Reads a job that a lane names.
-- Takes: lane; jid
-- Result: the fields; nil if the lane may forget it: it does not exist, has another lane, is complete, or failed
--   without keeping its place
local Job = Fields('state', 'queue', 'priority', 'scheduled', 'key', 'klass', 'dup', 'hold', 'rescore')

return function(lane, jid)
  local job = redis.pcall('hmget', Keys.job .. jid, unpack(Job))
  local state = job[Job.state]
  if not state or job[Job.key] ~= lane or state == 'complete' then return nil end
  if state == 'failed' and job[Job.hold] ~= '1' then return nil end
  return job
end
