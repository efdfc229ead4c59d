-- Ends the waiting of a job for one other. Returns 1 if it did wait, else 0.
return function(jid, name)
  redis.call('srem', Keys.job .. name .. Keys.dependents, jid)
  return redis.call('srem', Keys.job .. jid .. Keys.dependencies, name)
end
