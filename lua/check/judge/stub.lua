-- Checks a job whose hash has lost its essential fields.
-- Takes: job; what `check.read` returned with it; the queue in whose set the check met it, if any
return function(check)
  local parts = {Keys.work, Keys.locks, Keys.scheduled, Keys.depends, Keys.throttled}

  -- The changes that set a remnant aside and remove its entries everywhere.
  local function remove(job, seen)
    local changes = {}
    local function drop(key)
      local score = check.ask('zscore', key, job.id)
      if score then changes[#changes + 1] = {'zset', key, job.id, score, false} end
    end
    local sets, done = check.sets(), {}
    for i = 1, #sets do
      done[sets[i].queue] = true
      drop(sets[i].key)
    end
    for _, queue in ipairs({seen or job.queue, job.queue}) do
      if queue and not done[queue] then
        done[queue] = true
        for i = 1, #parts do drop(Keys.queue .. queue .. parts[i]) end
      end
    end
    drop(Keys.completed)
    if job.worker and job.worker ~= '' then drop(Keys.worker .. job.worker .. Keys.held) end
    check.need('index/failure_lists').remove_everywhere(changes, job.id)
    local tags = check.ask('zrange', Keys.tags, 0, 999) or {}
    for i = 1, #tags do
      local score = check.ask('zscore', Keys.tag .. tags[i], job.id)
      if score then
        changes[#changes + 1] = {'zset', Keys.tag .. tags[i], job.id, score, false}
        check.need('index/tag_counter')(changes, tags[i], -1)
      end
    end
    return check.set_aside(changes, job.key)
  end

  return function(job, what, seen)
    if what == 'stub' then
      -- If the jid ends in a reserved suffix, the key is a companion key of another job, not a remnant: check it as
      -- one.
      if need('job/reserved')(job.id) then return check.need('key/key')(string.sub(job.key, #Keys.prefix + 1)) end
      if check.outcome('job-stub') then check.add('job-stub', job.id, 'nothing but leftovers', remove(job, seen)) end
      return
    end
    if job.jid ~= job.id then
      check.add('job-stub', job.id, job.jid and 'jid is ' .. job.jid or 'no jid',
        {{'hash', job.key, 'jid', job.jid, job.id}}, 'data')
    end
    local missing = {}
    if not job.klass then missing[#missing + 1] = 'klass' end
    job.data = check.ask('hget', job.key, 'data')
    if not job.data then missing[#missing + 1] = 'data' end
    if not job.state then missing[#missing + 1] = 'state' end
    if not job.queue then missing[#missing + 1] = 'queue' end
    if missing[1] then check.add('job-stub', job.id, 'no ' .. table.concat(missing, ', '), {}, 'part') end
  end
end
