-- Removes dependencies of a job.
-- Takes: jid; jids of the dependencies
-- Result: how many of them were dependencies
return function(jid, names)
  local call, own = redis.call, Keys.job .. jid .. Keys.dependencies
  -- Ignore an error: a key of another type holds no dependents.
  for i = 1, #names do redis.pcall('srem', Keys.job .. names[i] .. Keys.dependents, jid) end
  if #names > 4000 then return need('value/in_chunks')('srem', own, names, 1, #names) end
  return names[1] and call('srem', own, unpack(names)) or 0
end
