-- Takes a job that has not started out of everything that would run it: the set of its state, its throttles, its
-- dependencies and its lane. Its dependents stay. A job that holds its place in its lane still waits for those that
-- it depends on; the job before it in the lane may be among these.
-- Takes: now; jid; state; queue; its stored throttles, or false
local Ext = Fields('job/extension')

return function(now, jid, state, queue, throttles)
  local call, dependencies = redis.call, Keys.job .. jid .. Keys.dependencies
  local names = call('smembers', dependencies)
  need('queue/remove_from_state_set')(jid, state, queue)
  if throttles then
    need('throttle/leave')(jid, state, queue, throttles)
    local ext = need('job/extension')(jid)
    if ext[Ext.key] and ext[Ext.hold] == '1' then return end
    if ext[Ext.key] then need('lane/leave')(now, ext[Ext.key], jid) end
  end
  for i = 1, #names do call('srem', Keys.job .. names[i] .. Keys.dependents, jid) end
  if names[1] then call('del', dependencies) end
end
