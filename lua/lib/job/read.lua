-- Reads the stored fields of a job.
-- Takes: jid
-- Returns: the fields; the first is false if the job does not exist, nil (and `err` is set) if the key is of
--   another type
local Job = Fields('jid', 'klass', 'state', 'queue', 'worker', 'priority', 'expires', 'retries', 'remaining',
  'data', 'tags', 'failure', 'spawned_from_jid', 'history', 'time', 'grace', 'throttles')

return function(jid)
  return redis.pcall('hmget', Keys.job .. jid, unpack(Job))
end
