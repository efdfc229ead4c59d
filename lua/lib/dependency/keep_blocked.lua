-- Removes from a set of jobs to delete each job that has a dependent which stays, and in turn the job's dependencies.
-- Takes: `going`, the set of jids to delete, which loses the kept ones; `below`, the dependents by jid
-- Result: per kept jid, the dependents that stay
return function(going, below)
  local above, stays = {}, {}
  for jid, list in pairs(below) do
    for k = 1, #list do
      local name = list[k]
      above[name] = above[name] or {}
      table.insert(above[name], jid)
      if not going[name] then stays[name] = true end
    end
  end
  local stack = {}
  for name in pairs(stays) do stack[#stack + 1] = name end
  while stack[1] do
    local name = table.remove(stack)
    for _, jid in ipairs(above[name] or {}) do
      if going[jid] then
        going[jid] = nil
        stack[#stack + 1] = jid
      end
    end
  end
  local staying = {}
  for jid, list in pairs(below) do
    if not going[jid] then
      staying[jid] = {}
      for k = 1, #list do
        if not going[list[k]] then table.insert(staying[jid], list[k]) end
      end
    end
  end
  return staying
end
