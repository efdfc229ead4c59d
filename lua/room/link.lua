-- Makes a job wait for all of `names`. Returns how many of them are new.
return function(jid, names)
  local call = redis.call
  for i = 1, #names do call('sadd', Keys.job .. names[i] .. Keys.dependents, jid) end
  if #names > 4000 then return need('many')('sadd', Keys.job .. jid .. Keys.dependencies, names, 1, #names) end
  return names[1] and call('sadd', Keys.job .. jid .. Keys.dependencies, unpack(names)) or 0
end
