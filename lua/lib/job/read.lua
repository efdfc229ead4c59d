-- Reads the stored fields of a job.
-- Takes: jid; for whom: `shown` has worker and expires instead of time and grace; `lost` has the worker as well
-- Returns: the fields; the first is false if the job does not exist, nil (and `err` is set) if the key is of
--   another type
local Common = Fields('jid', 'klass', 'state', 'queue', 'priority', 'retries', 'remaining', 'data', 'tags',
  'failure', 'spawned_from_jid', 'history', 'throttles')
local Job = Fields(Common, 'time', 'grace')
local Shown = Fields(Common, 'worker', 'expires')
local Lost = Fields(Job, 'worker')

return function(jid, whom)
  if not whom then return redis.pcall('hmget', Keys.job .. jid, unpack(Job)) end
  if whom == 'shown' then return redis.pcall('hmget', Keys.job .. jid, unpack(Shown)) end
  return redis.pcall('hmget', Keys.job .. jid, unpack(Lost))
end
