-- Reads the stored fields of a job.
-- Takes: jid; whether only what job/render needs: then `time` and `grace` are absent
-- Returns: the fields; the first is false if the job does not exist, nil (and `err` is set) if the key is of
--   another type
local Brief = Fields('jid', 'klass', 'state', 'queue', 'worker', 'priority', 'expires', 'retries', 'remaining',
  'data', 'tags', 'failure', 'spawned_from_jid', 'history', 'throttles')
local Job = Fields(Brief, 'time', 'grace')

return function(jid, brief)
  if brief then return redis.pcall('hmget', Keys.job .. jid, unpack(Brief)) end
  return redis.pcall('hmget', Keys.job .. jid, unpack(Job))
end
