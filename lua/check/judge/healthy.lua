-- Tests quickly whether a job is as it should be.
-- Takes: jid
-- Returns: true only if the other functions of `judge/job` would find nothing more; false means unknown
local Job = Fields('judge/context', 'data', 'history')

return function(c)
  local ask, number, find = redis.pcall, need('value/number'), string.find
  local horizon, latest, last_due = c.now + 8640000, c.now + 3600, c.last_due
  local homes = {waiting = Keys.work, stalled = Keys.work, running = Keys.locks, scheduled = Keys.scheduled,
    depends = Keys.depends, throttled = Keys.throttled}
  local parts = {Keys.work, Keys.locks, Keys.scheduled, Keys.depends, Keys.throttled}
  local reserved, listed, tag_list = need('job/reserved'), c.need('index/queue_listed'), c.need('judge/tag_list')
  local known = {}

  -- Whether a time of the schedule is a number, and will come.
  local function due(text)
    local n = number(text)
    return n and n >= 0 and n <= last_due and not find(text, '%s')
  end

  -- Whether every client can read the fields.
  local function readable(j, time, data)
    local retries, remaining = number(j.retries), number(j.remaining)
    return number(j.priority) and time and time <= latest and j.klass and j.worker and j.expires and retries
      and remaining and remaining <= retries and (remaining >= 0 or j.state == 'failed')
      and find(j.remaining, '^%-?%d+$') and #j.remaining <= 19 and not j.grace
      and (not j.scheduled or j.state == 'depends' and due(j.scheduled))
      and (not j.throttles or tag_list(j.throttles))
      and data and (data == '{}' or #data <= 250000 and pcall(cjson.decode, data))
  end

  -- Whether the history is short, with entries in the forms that cores write.
  local function plain(key)
    local list = ask('lrange', key .. Keys.history, 0, 19)
    if list.err or list[20] then return false end
    for i = 1, #list do
      local entry = list[i]
      if #entry > 10000 or not (find(entry, '^%[[1-9]%d*,"[^"\\%c]*",{"%l+":"[^"\\%c]*"}%]$')
        or find(entry, '^%[[1-9]%d*,"[^"\\%c]*"%]$')
        or find(entry, '^%[[1-9]%d*,"[^"\\%c]*",{"%l+":"[^"\\%c]*","%l+":"[^"\\%c]*"}%]$')) then
        return false
      end
    end
    return true
  end

  -- Whether the job is in the set of its state, and in no other set of its queue. A job without throttles is only met
  -- among the held ones if it is verified there.
  local function placed(j)
    local home, base, held = homes[j.state], Keys.queue .. j.queue, nil
    for i = 1, (j.throttles or j.state == 'throttled') and 5 or 4 do
      local score = ask('zscore', base .. parts[i], j.id)
      if parts[i] == home then
        held = score
      elseif score then
        return false
      end
    end
    if not home then return true end
    if type(held) ~= 'string' then return false end
    if home == Keys.work then return c.fits_priority(j, held) end
    if home == Keys.scheduled then return due(held) end
    if home ~= Keys.locks then return true end
    -- The lock and the worker's list must agree with the fields.
    local expires, lock, worker = number(j.expires), tonumber(held), j.worker
    if not expires or worker == '' or expires > horizon or lock > horizon or math.abs(lock - expires) > 0.001 then
      return false
    end
    if known[worker] == nil then known[worker] = type(ask('zscore', Keys.workers, worker)) == 'string' end
    held = known[worker] and ask('zscore', Keys.worker .. worker .. Keys.held, j.id)
    return type(held) == 'string' and math.abs(tonumber(held) - expires) <= 0.001
  end

  -- Whether the index of each tag lists the job.
  local function tagged(j)
    if not j.tags or #j.tags > 10000 then return false end
    local tags = tag_list(j.tags)
    if not tags then return false end
    for i = 1, #tags do
      if type(ask('zscore', Keys.tag .. tags[i], j.id)) ~= 'string' then return false end
    end
    return true
  end

  return function(jid)
    local key = Keys.job .. jid
    local r = ask('hmget', key, unpack(Job))
    if r.err or r[Job.jid] ~= jid or not c.states[r[Job.state]] or not r[Job.queue] or r[Job.history]
      or reserved(jid) then
      return false
    end
    local j = {
      id = jid,
      key = key,
      state = r[Job.state],
      queue = r[Job.queue],
      klass = r[Job.klass],
      priority = r[Job.priority],
      tags = r[Job.tags],
      retries = r[Job.retries],
      remaining = r[Job.remaining],
      worker = r[Job.worker],
      expires = r[Job.expires],
      time = r[Job.time],
      failure = r[Job.failure],
      grace = r[Job.grace],
      scheduled = r[Job.scheduled],
      spawned = r[Job.spawned_from_jid],
      lane = r[Job.key],
      throttles = r[Job.throttles],
      dup = r[Job.dup],
      hold = r[Job.hold],
    }
    local state = j.state
    if not readable(j, number(j.time), r[Job.data]) or not plain(key) then return false end
    if state == 'complete' then
      if j.queue ~= '' then return false end
    elseif not placed(j) then
      return false
    end
    local done = ask('zscore', Keys.completed, jid)
    if type(done) == 'table' or (state == 'complete') ~= (done and true or false) or not tagged(j) then return false end
    local edges = ask('exists', key .. Keys.dependencies, key .. Keys.dependents)
    if type(edges) == 'table' then return false end
    -- The checks below note their own findings.
    if state == 'failed' then c.need('judge/failed')(j) end
    if edges > 0 or state == 'depends' then c.need('judge/edges')(j) end
    if j.spawned then c.need('judge/child')(j) end
    if j.lane or j.throttles or j.dup or state == 'throttled' then c.need('judge/coordination')(j) end
    if state ~= 'complete' then listed(j.queue) end
    return true
  end
end
