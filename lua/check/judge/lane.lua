-- Checks that a live job is in its lane, and that it waits for the live job before it.
-- Takes: job; its rank in the lane, if the caller has read it
return function(c)
  local lanes = c.need('repair/lane')

  return function(j, rank)
    if not lanes.is_live(j, j.lane) then return end
    if not rank then
      local key, wrong = Keys.lane .. j.lane, nil
      rank, wrong = c.ask('zrank', key, j.id)
      if wrong then return c.wrong_type(key, 'zset') end
    end
    if not rank then
      local changes = lanes.join(j)
      return c.add('lane-unlisted', j.id, j.lane, changes, not changes and 'beside' or nil)
    end
    local before = lanes.before(j.lane, rank)
    if not before then return end
    -- A failed job that keeps its place keeps its dependencies.
    if j.state ~= 'depends' and j.state ~= 'failed' then
      local changes = j.state ~= 'running' and lanes.block({}, j, before)
      return c.add('lane-order', j.id, before, changes or {}, not changes and 'beside' or nil)
    end
    -- An edge that only one of the two jobs lists is a finding of its own.
    if lanes.has_edge(j.id, before) then return end
    local changes = lanes.block({}, j, before)
    c.add('lane-edge', j.id, before, changes, not changes and 'beside' or nil)
  end
end
