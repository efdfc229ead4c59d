-- Reads the stored fields of a job. The first is false if there is no such job, nil (and `err` is
-- set) if its key is of another kind.
local Job = Fields('jid', 'klass', 'state', 'queue', 'worker', 'priority', 'expires', 'retries', 'remaining',
  'data', 'tags', 'failure', 'spawned_from_jid', 'history', 'time', 'grace')

return function(jid)
  return redis.pcall('hmget', Keys.job .. jid, unpack(Job))
end
