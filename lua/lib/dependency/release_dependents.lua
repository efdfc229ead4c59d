-- Frees the dependents of a job that is complete now, if they wait for nothing else. Only jobs
-- in state `depends` that name it are touched: an entry left behind must not run a job twice.
return function(now, jid, dependents)
  local call = redis.call
  for i = 1, #dependents do
    local name = dependents[i]
    local key = Keys.job .. name
    if call('srem', key .. Keys.dependencies, jid) == 1 and call('exists', key .. Keys.dependencies) == 0 then
      local job = call('hmget', key, 'state', 'queue', 'priority', 'scheduled')
      if job[1] == 'depends' and job[2] then need('dependency/release_job')(now, name, job[2], job[3], job[4]) end
    end
  end
  call('del', Keys.job .. jid .. Keys.dependents)
end
