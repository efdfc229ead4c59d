-- Checks a member of a set of a queue: the job must exist and belong there.
-- Takes: jid
local Job = Fields('jid', 'state', 'queue', 'throttles')

return function(c, queue, kind)
  local base, ask = Keys.queue .. queue, redis.pcall
  local part = '-' .. kind
  local key = base .. part
  local ghost = 'ghost-' .. (kind == 'work' and 'waiting' or kind == 'locks' and 'lock' or kind)
  local homes = {waiting = Keys.work, stalled = Keys.work, running = Keys.locks, scheduled = Keys.scheduled,
    depends = Keys.depends, throttled = Keys.throttled}
  local parts, others = {Keys.work, Keys.locks, Keys.scheduled, Keys.depends}, {}
  for i = 1, 4 do
    if parts[i] ~= part then others[#others + 1] = base .. parts[i] end
  end

  -- Whether the job is in this set only, and its state belongs in this set.
  local function belongs(jid)
    local r = ask('hmget', Keys.job .. jid, unpack(Job))
    if r.err or r[Job.jid] ~= jid or homes[r[Job.state]] ~= part or r[Job.queue] ~= queue then return false end
    for i = 1, #others do
      if ask('zscore', others[i], jid) then return false end
    end
    -- A job without throttles is only met among the held ones if it is verified there.
    return kind == 'throttled' or not r[Job.throttles] or not ask('zscore', base .. Keys.throttled, jid)
  end

  return function(jid)
    local score, wrong = c.ask('zscore', key, jid)
    if wrong then return c.wrong_type(key, 'zset') end
    if not score then return end
    if redis.call('exists', Keys.job .. jid) == 0 then
      return c.add(ghost, jid, queue, {{'zset', key, jid, score, false}})
    end
    if belongs(jid) then
      if kind == 'scheduled' then c.need('judge/never_due')({id = jid, scores = {[part] = score}}) end
      return c.need('index/queue_listed')(queue)
    end
    local what, j = c.read(jid)
    if what == 'type' then
      c.wrong_type(Keys.job .. jid, 'hash')
    elseif what == 'stub' then
      c.need('judge/stub')(j, what, queue)
    elseif what == 'job' then
      c.need('judge/sets')(j, queue)
      if j.queue == queue then
        -- The score in this set may be wrong, too.
        if kind == 'work' or kind == 'scheduled' then c.need('judge/leftovers')(j) end
        c.need('index/queue_listed')(queue)
      end
    end
  end
end
