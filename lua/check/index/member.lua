-- Checks a member of one of a queue's sets, such as the waiting jobs: the job must exist and belong in that set.
-- Takes: jid
local Job = Fields('jid', 'state', 'queue', 'throttles')

return function(check, queue, kind)
  local base, ask = Keys.queue .. queue, redis.pcall
  local part = '-' .. kind
  local key = base .. part
  local ghost = 'ghost-' .. (kind == 'work' and 'waiting' or kind == 'locks' and 'lock' or kind)
  local parts, others = {Keys.work, Keys.locks, Keys.scheduled, Keys.depends}, {}
  for i = 1, 4 do
    if parts[i] ~= part then others[#others + 1] = base .. parts[i] end
  end

  -- Whether the job is in this set only, and its state belongs in this set.
  local function belongs(jid)
    local stored = ask('hmget', Keys.job .. jid, unpack(Job))
    if stored.err or stored[Job.jid] ~= jid or check.homes[stored[Job.state]] ~= part or stored[Job.queue] ~= queue then
      return false
    end
    for i = 1, #others do
      if ask('zscore', others[i], jid) then return false end
    end
    -- A job without throttles cannot be held. If it is in that set, too, the check of that set's members finds it.
    return kind == 'throttled' or not stored[Job.throttles] or not ask('zscore', base .. Keys.throttled, jid)
  end

  return function(jid)
    local score, wrong = check.ask('zscore', key, jid)
    if wrong then return check.wrong_type(key, 'zset') end
    if not score then return end
    if redis.call('exists', Keys.job .. jid) == 0 then
      return check.add(ghost, jid, queue, {{'zset', key, jid, score, false}})
    end
    if belongs(jid) then
      if kind == 'scheduled' then check.need('judge/never_due')({id = jid, scores = {[part] = score}}) end
      return check.need('index/queue_listed')(queue)
    end
    local what, job = check.read(jid)
    if what == 'type' then
      check.wrong_type(Keys.job .. jid, 'hash')
    elseif what == 'stub' then
      check.need('judge/stub')(job, what, queue)
    elseif what == 'job' then
      check.need('judge/sets')(job, queue)
      if job.queue == queue then
        -- The job belongs here, but its score in this set may be wrong: check that, too.
        if kind == 'work' or kind == 'scheduled' then check.need('judge/leftovers')(job) end
        check.need('index/queue_listed')(queue)
      end
    end
  end
end
