-- Removes a completed job from the dependencies of a dependent, and releases the dependent if that was its last one.
-- Takes: now; jid of the completed job; jid of the dependent
local Job = Fields('state', 'queue', 'priority', 'scheduled')

return function(now, jid, name)
  local call, key = redis.call, Keys.job .. name
  if call('srem', key .. Keys.dependencies, jid) == 1 and call('exists', key .. Keys.dependencies) == 0 then
    local job = call('hmget', key, unpack(Job))
    local queue = job[Job.queue]
    if job[Job.state] == 'depends' and queue then
      need('dependency/release_job')(now, name, queue, job[Job.priority], job[Job.scheduled])
    end
  end
end
