-- Checks the dependents of a jid, in both directions.
-- Takes: jid; what it is to them: `there` (a job), `complete` or `missing`
return function(c)
  local edges = c.need('judge/edge_sets')

  return function(x, how)
    local own = Keys.job .. x .. Keys.dependents
    local list = edges.members(own)
    if not list then return end
    for i = 1, #list do
      local y = list[i]
      local what, j = c.read(y, true)
      -- What a deleted job left behind is reported as that.
      local loose = how ~= 'missing'
      if what == 'gone' or what == 'stub' then
        if loose then c.add('dependency-one-sided', y, x, {{'set', own, y, '1', false}}) end
      elseif what == 'job' then
        local theirs = j.key .. Keys.dependencies
        local named, wrong = c.ask('sismember', theirs, x)
        if wrong then
          c.wrong_type(theirs, 'set')
        elseif named == 1 then
          if how ~= 'there' then
            what, j = c.read(y)
            c.need('judge/dependencies')(j, x)
          end
        elseif how == 'there' and j.state == 'depends' and y ~= x
          and (edges.rebuilt[y] or c.ask('scard', theirs) == 0) then
          -- The set of dependencies is lost: rebuild it from the jobs that list this one.
          edges.rebuilt[y] = true
          c.add('dependency-one-sided', y, x, {{'set', theirs, x, false, '1'}})
        elseif how == 'missing' and j.state == 'depends' and c.ask('scard', theirs) == 0 then
          -- The set of dependencies is lost as well: this is all that remains of the edge.
          c.add('dependency-missing', y, x, {{'set', own, y, '1', false}})
        elseif how == 'there' and (j.state == 'depends' or j.state == 'failed') and need('lane/precedes')(x, y)
          and (j.state == 'depends' or c.ask('hget', j.key, 'hold') == '1') then
          -- The edge of a lane: `y` has to wait for the job before it.
          c.add('dependency-one-sided', y, x, {{'set', theirs, x, false, '1'}})
        elseif loose then
          c.add('dependency-one-sided', y, x, {{'set', own, y, '1', false}})
        end
      end
    end
  end
end
