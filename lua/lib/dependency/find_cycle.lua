-- Looks for a cycle that new dependencies of a job would close. Follows the dependencies of these, and so on, until
-- it finds the job. Without dependents of the job there is no cycle to look for.
-- Takes: jid; its new dependencies; whether this call has written
-- Result: nil; or the jids of the cycle; or false and why the search stopped
return function(jid, names, wrote)
  local call = redis.call
  for i = 1, #names do
    if names[i] == jid then return {jid} end
  end
  if call('exists', Keys.job .. jid .. Keys.dependents) == 0 then return nil end
  local stack, from, edges = {}, {}, 0
  for i = #names, 1, -1 do
    stack[#stack + 1] = names[i]
    from[names[i]] = jid
  end
  while stack[1] do
    local name = table.remove(stack)
    local key = Keys.job .. name .. Keys.dependencies
    local above = redis.pcall('smembers', key)
    if above.err then
      need('value/wrong_type')(above, wrote, 'set', key, 'smembers', key)
      above = {}
    end
    for i = 1, #above do
      edges = edges + 1
      if edges > 10000 then return false, 'more than 10000 dependencies above it' end
      local up = above[i]
      if up == jid then
        local path = {}
        while name ~= jid do
          table.insert(path, 1, name)
          name = from[name]
        end
        table.insert(path, 1, jid)
        return path
      end
      if not from[up] then
        from[up] = name
        stack[#stack + 1] = up
      end
    end
  end
end
