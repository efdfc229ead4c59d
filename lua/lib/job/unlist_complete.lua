-- Removes a job that runs again from the list of complete jobs of the queue in which it was completed last.
-- Takes: jid
return function(jid)
  local queue = need('history/last_queue')(jid, 'done')
  if queue then redis.pcall('zrem', Keys.queue .. queue .. Keys.completed_in, jid) end
end
