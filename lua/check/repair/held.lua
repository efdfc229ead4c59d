-- Plans how held jobs return to work. The functions add their changes to the changes of a finding.
-- Result: a table of functions: `return_to_work`, its steps, and its questions about slots
return function(check)
  local held, ask, tag_list = {}, check.ask, check.need('judge/tag_list')

  -- Whether the throttles of a job include the throttle `id`.
  function held.carries(job, id)
    local ids = tag_list(job.throttles) or {}
    for i = 1, #ids do
      if ids[i] == id then return true end
    end
    return false
  end

  -- Adds the changes that remove a job from the held jobs of its throttles.
  function held.drop_pending(changes, job)
    local ids = tag_list(job.throttles) or {}
    for i = 1, #ids do
      local key = Keys.throttle .. ids[i] .. Keys.pending
      local value = ask('zscore', key, job.id)
      if value then changes[#changes + 1] = {'zset', key, job.id, value, false} end
    end
  end

  -- Adds the changes that return a held job to the work set, with its age and priority. The next pop may hold it
  -- again.
  function held.return_to_work(changes, job)
    local base = Keys.queue .. job.queue
    held.drop_pending(changes, job)
    local value = ask('zscore', base .. Keys.throttled, job.id) or job.enters and job.enters[Keys.throttled]
    if value then changes[#changes + 1] = {'zset', base .. Keys.throttled, job.id, value, false} end
    local place = value and -tonumber(value)
    local fits = place and (place == math.huge or check.fits_priority(job, place))
    local score = fits and check.score(place) or check.work_score(job)
    changes[#changes + 1] = {'zset', base .. Keys.work, job.id, ask('zscore', base .. Keys.work, job.id), score}
    changes[#changes + 1] = {'hash', job.key, 'state', job.state, 'waiting'}
  end

  -- The number of free slots of a throttle: infinite if the throttle has no limit.
  function held.free(id)
    local maximum = need('throttle/maximum')(id)
    return maximum == 0 and math.huge or maximum - (ask('zcard', Keys.throttle .. id .. Keys.locks) or 0)
  end

  -- Whether a job must not have a slot of the throttle `id`: it does not run, or its throttles do not include `id`.
  -- `what` and `job` are the results of check.read.
  function held.is_stray(id, what, job)
    return what ~= 'odd' and not (what == 'job' and job.state == 'running' and held.carries(job, id))
  end

  -- How many of the first 100 slots of a throttle have jobs that must not have one. 0 if this call does not judge
  -- slots.
  function held.count_strays(id)
    if not check.outcome('slot-stray') then return 0 end
    local holders, strays = ask('zrange', Keys.throttle .. id .. Keys.locks, 0, 99) or {}, 0
    for i = 1, #holders do
      local what, job = check.read(holders[i])
      if what ~= 'type' and held.is_stray(id, what, job) then strays = strays + 1 end
    end
    return strays
  end

  -- Adds a finding that a throttle's set has the wrong type, unless the key is a hash: then it is a throttle whose
  -- id ends like the name of a set.
  function held.wrong_type(key)
    local kind = redis.call('type', key)
    if (kind.ok or kind) ~= 'hash' then check.wrong_type(key, 'zset') end
  end
  return held
end
