-- Checks the dependents of a jid, in both directions.
-- Takes: jid; what it is to them: `there` (a job), `complete` or `missing`
return function(check)
  local edges = check.need('judge/edge_sets')

  return function(x, how)
    local own = Keys.job .. x .. Keys.dependents
    local list = edges.members(own)
    if not list then return end
    for i = 1, #list do
      local y = list[i]
      local what, job = check.read(y, true)
      -- The dependents of a missing job are no finding here: they are a leftover key (edges-orphan).
      local loose = how ~= 'missing'
      if what == 'gone' or what == 'stub' then
        if loose then check.add('dependency-one-sided', y, x, {{'set', own, y, '1', false}}) end
      elseif what == 'job' then
        local theirs = job.key .. Keys.dependencies
        local named, wrong = check.ask('sismember', theirs, x)
        if wrong then
          check.wrong_type(theirs, 'set')
        elseif named == 1 then
          if how ~= 'there' then
            what, job = check.read(y)
            check.need('judge/dependencies')(job, x)
          end
        elseif how == 'there' and job.state == 'depends' and y ~= x
          and (edges.rebuilt[y] or check.ask('scard', theirs) == 0) then
          -- The set of dependencies is lost: rebuild it from the jobs that list this one.
          edges.rebuilt[y] = true
          check.add('dependency-one-sided', y, x, {{'set', theirs, x, false, '1'}})
        elseif how == 'missing' and job.state == 'depends' and check.ask('scard', theirs) == 0 then
          -- The set of dependencies is lost as well, and nothing else remains of the edge: remove it.
          check.add('dependency-missing', y, x, {{'set', own, y, '1', false}})
        elseif how == 'there' and (job.state == 'depends' or job.state == 'failed') and need('lane/precedes')(x, y)
          and (job.state == 'depends' or check.ask('hget', job.key, 'hold') == '1') then
          -- The edge belongs to a lane, in which `y` waits for the job before it: restore the other half.
          check.add('dependency-one-sided', y, x, {{'set', theirs, x, false, '1'}})
        elseif loose then
          check.add('dependency-one-sided', y, x, {{'set', own, y, '1', false}})
        end
      end
    end
  end
end
