-- Makes a job depend on all given jobs, or on none if one of their keys is of another type.
-- Takes: jid; jids of the dependencies
-- Result: how many of them are new
-- Refuses: raises what the server refuses
return function(jid, names)
  local call, own = redis.call, Keys.job .. jid .. Keys.dependencies
  local done = {}
  -- Removes the entries added so far, then repeats the refused command, so that the server's own error is raised.
  local function refuse(...)
    for n = 1, #done do
      if done[n] == 1 then call('srem', Keys.job .. names[n] .. Keys.dependents, jid) end
    end
    call(...)
  end
  for i = 1, #names do
    local key = Keys.job .. names[i] .. Keys.dependents
    local added = redis.pcall('sadd', key, jid)
    if type(added) ~= 'number' then refuse('sadd', key, jid) end
    done[i] = added
  end
  if not names[1] then return 0 end
  local added = redis.pcall('sadd', own, unpack(names, 1, math.min(#names, 4000)))
  if type(added) ~= 'number' then refuse('sadd', own, names[1]) end
  return #names > 4000 and added + need('value/in_chunks')('sadd', own, names, 4001, #names) or added
end
