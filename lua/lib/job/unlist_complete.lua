-- Removes a job that runs again from the completed jobs of all queues, because the job does not name the queue in which
-- it completed.
-- Takes: jid
return function(jid)
  local queues = redis.pcall('zrange', Keys.queues, 0, -1)
  for i = 1, #queues do redis.pcall('zrem', Keys.queue .. queues[i] .. Keys.completed_in, jid) end
end
