-- Releases the dependents of a job that is deleted, but for those that are deleted with it.
-- Takes: now; jid; jids of its dependents; the set of jids that are deleted; a list, to which the released jids are
--   added
local Dependent = Fields('queue', 'priority', 'scheduled')

return function(now, jid, names, going, released)
  local call, unlink = redis.call, need('dependency/unlink')
  for i = 1, #names do
    local name = names[i]
    local key = Keys.job .. name
    if not going[name] then
      unlink(name, {jid})
      if call('exists', key .. Keys.dependencies) == 0 then
        local queue, priority, due = unpack(call('hmget', key, unpack(Dependent)))
        need('dependency/release_job')(now, name, queue or '', priority, due)
        released[#released + 1] = name
      end
    end
  end
end
