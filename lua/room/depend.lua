-- Dependencies: the pair of sets `<jid>-dependencies` and `<its dependency>-dependents`.
local call = redis.call
local Depend = {}

-- Returns those of `names` that a job really has to wait for: jobs that exist, are not
-- complete, and are not the job itself.
function Depend.open(jid, names)
  local open = {}
  for i = 1, #names do
    local name = names[i]
    if name ~= jid then
      local state = call('hget', Keys.job .. name, 'state')
      if state and state ~= 'complete' then open[#open + 1] = name end
    end
  end
  return open
end

-- Makes a job wait for all of `names`. Returns how many of them are new.
function Depend.link(jid, names)
  for i = 1, #names do call('sadd', Keys.job .. names[i] .. Keys.dependents, jid) end
  return need('many')('sadd', Keys.job .. jid .. Keys.dependencies, names, 1, #names)
end

-- Ends the waiting of a job for one other. Returns 1 if it did wait, else 0.
function Depend.unlink(jid, name)
  call('srem', Keys.job .. name .. Keys.dependents, jid)
  return call('srem', Keys.job .. jid .. Keys.dependencies, name)
end

-- Lets a job in state `depends` go: to the time it was put for, else into the queue.
-- `past`: a time that has come counts as none.
function Depend.free(now, t, jid, queue, priority, due, past)
  local key, base = Keys.job .. jid, Keys.queue .. queue
  call('zrem', base .. Keys.depends, jid)
  local at = tonumber(due)
  if at and not (past and at <= now) then
    call('zadd', base .. Keys.scheduled, due, jid)
    call('hset', key, 'state', 'scheduled')
  else
    call('zadd', base .. Keys.work, (tonumber(priority) or 0) - now / 10000000000, jid)
    call('hset', key, 'state', 'waiting')
  end
  if due then call('hdel', key, 'scheduled') end
end

-- Frees who waited for a job that is complete now, if for nothing else. Only jobs in state
-- `depends` that name it are touched: an entry left behind must not run a job twice.
function Depend.release(now, t, jid)
  local key = Keys.job .. jid .. Keys.dependents
  local dependents = call('smembers', key)
  if not dependents[1] then return end
  for i = 1, #dependents do
    local name = dependents[i]
    local other = Keys.job .. name
    if call('srem', other .. Keys.dependencies, jid) == 1 and call('exists', other .. Keys.dependencies) == 0 then
      local job = call('hmget', other, 'state', 'queue', 'priority', 'scheduled')
      if job[1] == 'depends' and job[2] then Depend.free(now, t, name, job[2], job[3], job[4]) end
    end
  end
  call('del', key)
end

return Depend
