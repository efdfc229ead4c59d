-- Checks both directions of each dependency of a job and of each dependent.
-- Returns: a table of functions
return function(c)
  local number, rebuilt = need('value/number'), {}

  -- Returns up to 1000 members of a set, and their number; nil if the key is not a set.
  local function members(key)
    local count, wrong = c.ask('scard', key)
    if wrong then
      c.wrong_type(key, 'set')
      return nil
    end
    if count <= 1000 then return count > 0 and redis.call('smembers', key) or {}, count end
    c.add('not-judged', string.sub(key, #Keys.prefix + 1), 'more than 1000 dependencies')
    local page = redis.pcall('sscan', key, 0, 'COUNT', 1000)
    return page[2] or {}, count
  end

  -- Adds the release of a job without dependencies, as the completion of the last one would do.
  local function release(changes, j)
    local base = Keys.queue .. j.queue
    local function entry(part)
      return c.ask('zscore', base .. part, j.id) or j.enters and j.enters[part] or false
    end
    local waits, lock = entry(Keys.depends), entry(Keys.locks)
    if waits then changes[#changes + 1] = {'zset', base .. Keys.depends, j.id, waits, false} end
    if lock then changes[#changes + 1] = {'zset', base .. Keys.locks, j.id, lock, false} end
    local due = number(j.scheduled)
    local into, out = due and Keys.scheduled or Keys.work, due and Keys.work or Keys.scheduled
    local kept, left = entry(into), entry(out)
    if left then changes[#changes + 1] = {'zset', base .. out, j.id, left, false} end
    local score = due and c.score(due) or c.score((number(j.priority) or 0) - c.now / 10000000000)
    changes[#changes + 1] = {'zset', base .. into, j.id, kept, score}
    changes[#changes + 1] = {'hash', j.key, 'state', j.state, due and 'scheduled' or 'waiting'}
    if j.scheduled then changes[#changes + 1] = {'hash', j.key, 'scheduled', j.scheduled, false} end
    c.list_queue(changes, j.queue)
  end

  -- Whether a lock on a job in state `depends` is still valid, in its queue or in another known one: a
  -- worker may be working on the job.
  local function locked(j)
    local function alive(key)
      local lock = c.ask('zscore', key, j.id)
      return lock and tonumber(lock) > c.now
    end
    if alive(Keys.queue .. j.queue .. Keys.locks) then return true end
    local sets = c.sets()
    for i = 1, #sets do
      if sets[i].part == Keys.locks and alive(sets[i].key) then return true end
    end
    return false
  end

  -- Returns the removal of an edge in both directions.
  local function cut(y, x)
    local changes, above, below = {}, Keys.job .. y .. Keys.dependencies, Keys.job .. x .. Keys.dependents
    if c.ask('sismember', above, x) == 1 then changes[1] = {'set', above, x, '1', false} end
    if c.ask('sismember', below, y) == 1 then changes[#changes + 1] = {'set', below, y, '1', false} end
    return changes
  end

  -- Returns what a job is to its dependents (`missing`, `complete`, `there`; nil if it is unclear), and
  -- the job.
  local function there(x)
    local what, j = c.read(x, true)
    if what == 'gone' or what == 'stub' then return 'missing' end
    if what ~= 'job' then return nil end
    return j.state == 'complete' and j.queue == '' and 'complete' or 'there', j
  end

  -- Checks the dependencies of a job: all of them, or only `one`.
  local function above(y, one)
    local own = y.key .. Keys.dependencies
    local list, count = members(own)
    if not list then return end
    if count == 0 then
      if y.state == 'depends' and not one and not rebuilt[y.id] then
        local changes = {}
        if not locked(y) then release(changes, y) end
        local word = not changes[1] and 'locked' or nil
        c.add('depends-on-nothing', y.id, word or '', changes, word)
      end
      return
    end
    if one then list = {one} end
    local left, sure, unsure, ids = count, {}, {}, {}
    for i = 1, #list do
      local x = list[i]
      local how, j = there(x)
      local below = Keys.job .. x .. Keys.dependents
      if x == y.id then
        c.add('dependency-cycle', y.id, x)
      elseif how == 'missing' or how == 'complete' then
        ids[x] = how == 'missing' and 'dependency-missing' or 'dependency-complete'
        local word = c.outcome(ids[x])
        if word == 'found' then
          left = left - 1
          sure[#sure + 1] = x
        elseif word then
          unsure[#unsure + 1] = x
        end
      elseif how then
        if y.state ~= 'depends' then
          c.add('dependency-one-sided', y.id, x, cut(y.id, x), 'idle')
        else
          local told, wrong = c.ask('sismember', below, y.id)
          if wrong then
            c.wrong_type(below, 'set')
          elseif told == 0 then
            c.add('dependency-one-sided', y.id, x, {{'set', below, y.id, false, '1'}})
          end
          if j.state == 'failed' then c.add('depends-on-failed', y.id, x) end
        end
      end
    end
    -- The removal of the last edge releases the job. If the job may not be released, the edge stays.
    local function drop(x, last)
      local changes, word = cut(y.id, x), nil
      if last and y.state == 'depends' then
        if locked(y) then
          changes, word = {}, 'locked'
        else
          release(changes, y)
        end
      end
      c.add(ids[x], y.id, x, changes, word)
    end
    for i = 1, #unsure do drop(unsure[i], left == 1) end
    -- Sort, so that the last one is not a matter of chance.
    if sure[2] then need('value/sort')(sure) end
    for i = 1, #sure do drop(sure[i], left == 0 and i == #sure) end
  end

  local edges = {}
  -- Checks the dependents of `x`, which is a job or was one.
  function edges.below(x, how)
    local own = Keys.job .. x .. Keys.dependents
    local list = members(own)
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
            above(j, x)
          end
        elseif how == 'there' and j.state == 'depends' and y ~= x
          and (rebuilt[y] or c.ask('scard', theirs) == 0) then
          -- The set of dependencies is lost: rebuild it from the jobs that list this one.
          rebuilt[y] = true
          c.add('dependency-one-sided', y, x, {{'set', theirs, x, false, '1'}})
        elseif how == 'missing' and j.state == 'depends' and c.ask('scard', theirs) == 0 then
          -- The set of dependencies is lost as well: this is all that remains of the edge.
          c.add('dependency-missing', y, x, {{'set', own, y, '1', false}})
        elseif loose then
          c.add('dependency-one-sided', y, x, {{'set', own, y, '1', false}})
        end
      end
    end
  end

  function edges.both(j)
    above(j)
    edges.below(j.id, j.state == 'complete' and j.queue == '' and 'complete' or 'there')
  end
  return edges
end
