-- Adds or removes dependencies of a job in state `depends`. If the job has no dependencies left, it is released.
-- Takes: jid on jid ... | jid off jid ... | jid off all
-- Result: 1
-- Refuses: a job in another state, the removal of the job before it in its lane, a job of a lane that would wait for
--   itself, more than 20000 jids
local Job = Fields('state', 'queue', 'priority', 'scheduled', 'throttles')

return function(argv, now)
  local call = redis.call
  local jid, verb = argv[3], argv[4]
  if not jid then error('Job(): no jid provided') end
  if not verb then error('Depends(): Arg "command" missing') end
  if argv[20005] then error('Depends(): more than 20000 jids') end
  local key = Keys.job .. jid
  local job = call('hmget', key, unpack(Job))
  if job[Job.state] ~= 'depends' then
    error('Depends(): Job ' .. jid .. ' not in the depends state: ' .. tostring(job[Job.state]))
  end
  if verb == 'on' then
    local pending = need('dependency/pending_dependencies')(jid, need('value/args_from')(argv, 5))
    -- The lane makes its jobs depend on each other, so a new dependency of a job with a lane may close a cycle.
    local path, trouble
    if job[Job.throttles] and call('hget', key, 'key') then
      path, trouble = need('dependency/find_cycle')(jid, pending)
    end
    if trouble then error('Depends(): ' .. trouble) end
    if path then error('Depends(): "on" closes a cycle: ' .. table.concat(path, ' ')) end
    need('dependency/link')(jid, pending)
  elseif verb == 'off' then
    local unlink, lane = need('dependency/unlink'), job[Job.throttles] and call('hget', key, 'key')
    local precedes = lane and need('lane/precedes')
    if argv[5] == 'all' then
      local names = call('smembers', key .. Keys.dependencies)
      if precedes then
        local others = {}
        for i = 1, #names do
          if not precedes(names[i], jid) then others[#others + 1] = names[i] end
        end
        names = others
      end
      unlink(jid, names)
    else
      for i = 5, precedes and #argv or 0 do
        if precedes(argv[i], jid) then
          error('Depends(): ' .. argv[i] .. ' precedes ' .. jid .. ' in lane ' .. lane)
        end
      end
      unlink(jid, need('value/args_from')(argv, 5))
    end
    if argv[5] and call('exists', key .. Keys.dependencies) == 0 then
      need('dependency/release_job')(now, jid, job[Job.queue] or '', job[Job.priority], job[Job.scheduled], true)
    end
  else
    error('Depends(): Argument "command" must be "on" or "off"')
  end
  return 1
end
