-- Checks that a job and its dependents list each other.
-- Takes: jid; what the job is for its dependents: `there`, `complete` or `missing`
return function(check)
  local edges = check.need('judge/edge_sets')

  return function(x, how)
    local own = Keys.job .. x .. Keys.dependents
    local list = edges.members(own)
    if not list then return end
    for i = 1, #list do
      local y = list[i]
      local what, job = check.read(y, true)
      -- If the job is missing, a wrong entry is no finding here: the whole set is a leftover key (edges-orphan).
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
          -- `y` lost its set of dependencies: rebuild the set from the jobs that list `y` as a dependent.
          edges.rebuilt[y] = true
          check.add('dependency-one-sided', y, x, {{'set', theirs, x, false, '1'}})
        elseif how == 'missing' and job.state == 'depends' and check.ask('scard', theirs) == 0 then
          -- `y` lost its set of dependencies, and `x` is missing: remove this last entry of the dependency.
          check.add('dependency-missing', y, x, {{'set', own, y, '1', false}})
        elseif how == 'there' and (job.state == 'depends' or job.state == 'failed') and need('lane/precedes')(x, y)
          and (job.state == 'depends' or check.ask('hget', job.key, 'hold') == '1') then
          -- The dependency belongs to a lane, in which `y` waits for the job before it: restore the missing side.
          check.add('dependency-one-sided', y, x, {{'set', theirs, x, false, '1'}})
        elseif loose then
          check.add('dependency-one-sided', y, x, {{'set', own, y, '1', false}})
        end
      end
    end
  end
end
