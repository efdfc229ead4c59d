-- Plans the removal of an entry from a lane. The live job behind the entry then depends on the job before the entry.
-- If there is no job before, and no other dependency, the job behind is released.
-- Takes: lane; jid; its rank
-- Result: the changes; no changes and `locked` if the job behind it may not be released
return function(check)
  local lanes, edges, ask = check.need('repair/lane'), check.need('judge/edge_sets'), check.ask
  local find_cycle = need('dependency/find_cycle')

  return function(lane, jid, rank)
    local key = Keys.lane .. lane
    local changes = {{'zset', key, jid, ask('zscore', key, jid), false}}
    -- Whether there was an edge to remove.
    local function cut(y, x)
      local list = edges.cut(y, x)
      for i = 1, #list do changes[#changes + 1] = list[i] end
      return list[1] ~= nil
    end
    local before = lanes.before(lane, rank)
    if before then cut(jid, before) end
    local behind, job = lanes.behind(lane, rank)
    if not behind then return changes end
    local was = cut(behind, jid)
    if before then
      if find_cycle(behind, {before}, true) == nil then lanes.link(changes, behind, before) end
    elseif was and job.state == 'depends' and ask('scard', job.key .. Keys.dependencies) == 1 then
      if edges.locked(job) then return {}, 'locked' end
      edges.release(changes, job)
    end
    return changes
  end
end
