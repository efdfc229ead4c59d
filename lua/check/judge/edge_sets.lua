-- Reads the sets of dependencies and dependents, and plans the removal of an edge and the release of a job.
-- Returns: a table of functions; `rebuilt` is the set of jids whose dependencies this call rebuilds
return function(c)
  local edges, number = {rebuilt = {}}, need('value/number')

  -- Returns up to 1000 members of a set, and the number of all; nil if the key is not a set.
  function edges.members(key)
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
  function edges.release(changes, j)
    local base = Keys.queue .. j.queue
    local function entry(part)
      return c.ask('zscore', base .. part, j.id) or j.enters and j.enters[part] or false
    end
    local waits, lock = entry(Keys.depends), entry(Keys.locks)
    if waits then changes[#changes + 1] = {'zset', base .. Keys.depends, j.id, waits, false} end
    if lock then changes[#changes + 1] = {'zset', base .. Keys.locks, j.id, lock, false} end
    local due = number(j.scheduled)
    local into, out = due and Keys.scheduled or Keys.work, due and Keys.work or Keys.scheduled
    local present, misplaced = entry(into), entry(out)
    if misplaced then changes[#changes + 1] = {'zset', base .. out, j.id, misplaced, false} end
    local score = due and c.score(due) or c.score((number(j.priority) or 0) - c.now / 10000000000)
    changes[#changes + 1] = {'zset', base .. into, j.id, present, score}
    changes[#changes + 1] = {'hash', j.key, 'state', j.state, due and 'scheduled' or 'waiting'}
    if j.scheduled then changes[#changes + 1] = {'hash', j.key, 'scheduled', j.scheduled, false} end
    c.list_queue(changes, j.queue)
  end

  -- Whether a lock on a job in state `depends` is still valid, in its queue or in another known one: a
  -- worker may be working on the job.
  function edges.locked(j)
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
  function edges.cut(y, x)
    local changes, above, below = {}, Keys.job .. y .. Keys.dependencies, Keys.job .. x .. Keys.dependents
    if c.ask('sismember', above, x) == 1 then changes[1] = {'set', above, x, '1', false} end
    if c.ask('sismember', below, y) == 1 then changes[#changes + 1] = {'set', below, y, '1', false} end
    return changes
  end
  return edges
end
