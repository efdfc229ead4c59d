-- Checks whether jobs form a cycle, each depending on the next and the last on the first.
-- Takes: jids
return function(check)
  return function(jids)
    local edges = {}
    for i = 1, #jids do
      local next_one = jids[i % #jids + 1]
      local state = check.ask('hget', Keys.job .. jids[i], 'state')
      if state ~= 'depends' or check.ask('sismember', Keys.job .. jids[i] .. Keys.dependencies, next_one) ~= 1 then
        return
      end
      edges[i] = jids[i]
    end
    if edges[1] then
      edges[#edges + 1] = edges[1]
      check.add('dependency-cycle', jids[1], table.concat(edges, ' needs ', 2))
    end
  end
end
