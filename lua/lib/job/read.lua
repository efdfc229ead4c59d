-- Reads the stored fields of a job.
-- Takes: jid; the use of the reply: for `shown`, worker and expires replace time and grace; for `lost`, worker and
--   back-off are added
-- Result: the fields; the first is false if the job does not exist, nil (and `err` is set) if the key is of
--   another type
local Common = Fields('jid', 'klass', 'state', 'queue', 'priority', 'retries', 'remaining', 'data', 'tags',
  'failure', 'spawned_from_jid', 'history', 'throttles')
local Job = Fields(Common, 'time', 'grace')
local Shown = Fields(Common, 'worker', 'expires')
local Lost = Fields(Job, 'worker', 'backoff')

return function(jid, use)
  if not use then return redis.pcall('hmget', Keys.job .. jid, unpack(Job)) end
  if use == 'shown' then return redis.pcall('hmget', Keys.job .. jid, unpack(Shown)) end
  return redis.pcall('hmget', Keys.job .. jid, unpack(Lost))
end
