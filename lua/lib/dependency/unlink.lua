-- Removes a dependency of a job.
-- Takes: jid; jid of the dependency
-- Returns: 1 if it was a dependency, else 0
return function(jid, name)
  redis.call('srem', Keys.job .. name .. Keys.dependents, jid)
  return redis.call('srem', Keys.job .. jid .. Keys.dependencies, name)
end
