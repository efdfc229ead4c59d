-- Reads the stored fields of a job. The first is false if there is no such job.
return function(jid)
  return redis.call('hmget', Keys.job .. jid, 'jid', 'klass', 'state', 'queue', 'worker', 'priority', 'expires',
    'retries', 'remaining', 'data', 'tags', 'failure', 'spawned_from_jid', 'history', 'time', 'grace')
end
