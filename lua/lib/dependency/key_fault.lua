-- Tests the types of the keys in which the dependencies of a job list this job as a dependent.
-- Takes: the function of value/key_fault; jid
-- Result: nil, or what is wrong; the dependencies
return function(key_fault, jid)
  local names, keys = redis.call('smembers', Keys.job .. jid .. Keys.dependencies), {}
  for i = 1, #names do keys[i] = Keys.job .. names[i] .. Keys.dependents end
  return key_fault('set', keys), names
end
