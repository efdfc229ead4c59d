-- Reads the sets of dependencies and dependents. Plans the removal of an edge between two jobs, and the release of a
-- job that has no dependency left.
-- Result: a table of functions; `rebuilt` is the set of jids whose dependencies this call rebuilds
return function(check)
  local edges, number = {rebuilt = {}}, need('value/number')

  -- Up to 1000 members of a set, and the number of all members; nil if the key is not a set. Reports a larger set.
  function edges.members(key)
    local count, wrong = check.ask('scard', key)
    if wrong then
      check.wrong_type(key, 'set')
      return nil
    end
    if count <= 1000 then return count > 0 and redis.call('smembers', key) or {}, count end
    check.add('not-judged', string.sub(key, #Keys.prefix + 1), 'more than 1000 dependencies')
    local page = redis.pcall('sscan', key, 0, 'COUNT', 1000)
    return page[2] or {}, count
  end

  -- Adds the changes that release a job without dependencies, as the completion of its last dependency would.
  function edges.release(changes, job)
    local base = Keys.queue .. job.queue
    local function entry(part)
      return check.ask('zscore', base .. part, job.id) or job.enters and job.enters[part] or false
    end
    local waits, lock = entry(Keys.depends), entry(Keys.locks)
    if waits then changes[#changes + 1] = {'zset', base .. Keys.depends, job.id, waits, false} end
    if lock then changes[#changes + 1] = {'zset', base .. Keys.locks, job.id, lock, false} end
    local due = number(job.scheduled)
    local into, out = due and Keys.scheduled or Keys.work, due and Keys.work or Keys.scheduled
    local present, misplaced = entry(into), entry(out)
    if misplaced then changes[#changes + 1] = {'zset', base .. out, job.id, misplaced, false} end
    local score = due and check.score(due) or check.score(need('queue/score')(check.now, job.priority))
    changes[#changes + 1] = {'zset', base .. into, job.id, present, score}
    changes[#changes + 1] = {'hash', job.key, 'state', job.state, due and 'scheduled' or 'waiting'}
    if job.scheduled then changes[#changes + 1] = {'hash', job.key, 'scheduled', job.scheduled, false} end
    check.list_queue(changes, job.queue)
  end

  -- Whether a lock on a job in state `depends` is still valid, in its queue or in another known one: a
  -- worker may be working on the job.
  function edges.locked(job)
    local function has_live_lock(key)
      local lock = check.ask('zscore', key, job.id)
      return lock and tonumber(lock) > check.now
    end
    if has_live_lock(Keys.queue .. job.queue .. Keys.locks) then return true end
    local sets = check.sets()
    for i = 1, #sets do
      if sets[i].part == Keys.locks and has_live_lock(sets[i].key) then return true end
    end
    return false
  end

  -- The changes that remove an edge: `x` from the dependencies of `y`, and `y` from the dependents of `x`.
  function edges.cut(y, x)
    local changes, above, below = {}, Keys.job .. y .. Keys.dependencies, Keys.job .. x .. Keys.dependents
    if check.ask('sismember', above, x) == 1 then changes[1] = {'set', above, x, '1', false} end
    if check.ask('sismember', below, y) == 1 then changes[#changes + 1] = {'set', below, y, '1', false} end
    return changes
  end
  return edges
end
