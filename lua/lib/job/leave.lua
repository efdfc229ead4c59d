-- Takes a job that has not started out of everything that would run it: the set of its state, and its
-- dependencies. Its dependents stay.
-- Takes: jid state queue
return function(jid, state, queue)
  local call, dependencies = redis.call, Keys.job .. jid .. Keys.dependencies
  local names = call('smembers', dependencies)
  need('queue/remove_from_state_set')(jid, state, queue)
  for i = 1, #names do call('srem', Keys.job .. names[i] .. Keys.dependents, jid) end
  if names[1] then call('del', dependencies) end
end
