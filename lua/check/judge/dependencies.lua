-- Checks the dependencies of a job, in both directions.
-- Takes: job; the only dependency to check, if not all
return function(check)
  local edges = check.need('judge/edge_sets')

  -- The state of a dependency, `missing`, `complete` or `there` (nil if it is unclear), and the job.
  local function dependency_state(x)
    local what, job = check.read(x, true)
    if what == 'gone' or what == 'stub' then return 'missing' end
    if what ~= 'job' then return nil end
    return job.state == 'complete' and job.queue == '' and 'complete' or 'there', job
  end

  return function(y, one)
    local own = y.key .. Keys.dependencies
    local list, count = edges.members(own)
    if not list then return end
    if count == 0 then
      -- A job that has lost the edge to the job before it in its lane is not released: that is a finding of its own.
      if y.state == 'depends' and not one and not edges.rebuilt[y.id] and not check.need('repair/lane').held(y) then
        local changes = {}
        if not edges.locked(y) then edges.release(changes, y) end
        local word = not changes[1] and 'locked' or nil
        check.add('depends-on-nothing', y.id, word or '', changes, word)
      end
      return
    end
    if one then list = {one} end
    -- A failed job that keeps its place in a lane may keep its dependencies: they are no finding.
    local keeps = y.state == 'failed' and y.hold == '1' and y.lane
    local left, sure, unsure, ids = count, {}, {}, {}
    for i = 1, #list do
      local x = list[i]
      local how, job = dependency_state(x)
      local below = Keys.job .. x .. Keys.dependents
      if x == y.id then
        check.add('dependency-cycle', y.id, x)
      elseif how == 'missing' or how == 'complete' then
        ids[x] = how == 'missing' and 'dependency-missing' or 'dependency-complete'
        local word = check.outcome(ids[x])
        if word == 'found' then
          left = left - 1
          sure[#sure + 1] = x
        elseif word then
          unsure[#unsure + 1] = x
        end
      elseif how then
        if y.state ~= 'depends' and not keeps then
          check.add('dependency-one-sided', y.id, x, edges.cut(y.id, x), 'idle')
        else
          local listed, wrong = check.ask('sismember', below, y.id)
          if wrong then
            check.wrong_type(below, 'set')
          elseif listed == 0 then
            check.add('dependency-one-sided', y.id, x, {{'set', below, y.id, false, '1'}})
          end
          if job.state == 'failed' and not keeps then check.add('depends-on-failed', y.id, x) end
        end
      end
    end
    -- Reports a dependency, and plans the removal of its edge. The removal of the last edge releases the job. If the
    -- job may not be released, that edge stays.
    local function drop(x, last)
      local changes, word = edges.cut(y.id, x), nil
      if last and y.state == 'depends' then
        if edges.locked(y) then
          changes, word = {}, 'locked'
        else
          edges.release(changes, y)
        end
      end
      check.add(ids[x], y.id, x, changes, word)
    end
    for i = 1, #unsure do drop(unsure[i], left == 1) end
    -- Sort, because the removal of the last edge releases the job: which edge is last must not depend on chance.
    if sure[2] then need('value/sort')(sure) end
    for i = 1, #sure do drop(sure[i], left == 0 and i == #sure) end
  end
end
