-- Makes a job depend on all given jobs, or on none if one of their keys is of another type.
-- Takes: jid; jids of the dependencies
-- Result: how many of them are new
-- Refuses: raises what the server refuses
return function(jid, names)
  local call, own = redis.call, Keys.job .. jid .. Keys.dependencies
  local done = {}
  for i = 1, #names do
    local key = Keys.job .. names[i] .. Keys.dependents
    local added = redis.pcall('sadd', key, jid)
    if type(added) ~= 'number' then
      for n = 1, i - 1 do
        if done[n] == 1 then call('srem', Keys.job .. names[n] .. Keys.dependents, jid) end
      end
      -- Repeat the command without catching its error, to raise it in the server's own words.
      call('sadd', key, jid)
    end
    done[i] = added
  end
  if #names > 4000 then return need('value/in_chunks')('sadd', own, names, 1, #names) end
  return names[1] and call('sadd', own, unpack(names)) or 0
end
