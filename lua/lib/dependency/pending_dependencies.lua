-- The dependencies that a job really has to wait for: jobs that exist, are not complete, and are
-- not the job itself.
-- Takes: jid; jids of the dependencies
return function(jid, names)
  local pending = {}
  for i = 1, #names do
    local name = names[i]
    if name ~= jid then
      local state = redis.call('hget', Keys.job .. name, 'state')
      if state and state ~= 'complete' then pending[#pending + 1] = name end
    end
  end
  return pending
end
