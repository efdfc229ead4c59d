-- Removes a job that is being deleted from its dependents' dependencies. Releases each dependent that has none left.
-- Skips dependents that are being deleted, too.
-- Takes: now; jid; jids of its dependents; the set of all jids that are deleted; a list that gets the released jids
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
