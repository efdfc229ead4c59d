-- Releases the dependents of a completed job that have no other dependency. Only jobs in state `depends` that
-- name the completed job are touched: a leftover entry must not run a job twice.
-- Takes: now; jid; jids of the dependents
local Job = Fields('state', 'queue', 'priority', 'scheduled')

return function(now, jid, dependents)
  local call = redis.call
  for i = 1, #dependents do
    local name = dependents[i]
    local key = Keys.job .. name
    if call('srem', key .. Keys.dependencies, jid) == 1 and call('exists', key .. Keys.dependencies) == 0 then
      local job = call('hmget', key, unpack(Job))
      local queue = job[Job.queue]
      if job[Job.state] == 'depends' and queue then
        need('dependency/release_job')(now, name, queue, job[Job.priority], job[Job.scheduled])
      end
    end
  end
  call('del', Keys.job .. jid .. Keys.dependents)
end
