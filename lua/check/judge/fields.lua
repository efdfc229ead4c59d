-- Checks the fields of a job. Fields that every command needs must exist, and every client must be able to
-- read them.
-- Takes: job; what `check.read` returned with it
return function(check)
  local number = need('value/number')

  -- The tags in whose index the job is, as a JSON list.
  local function indexed_tags(job)
    local names, found = check.ask('zrange', Keys.tags, 0, 999) or {}, {}
    need('value/sort')(names)
    for i = 1, #names do
      if check.ask('zscore', Keys.tag .. names[i], job.id) then found[#found + 1] = names[i] end
    end
    return found[1] and cjson.encode(found) or '{}'
  end

  -- The time of the newest readable history entry that is not in the future, as text.
  local function newest_time(job)
    local list, moment = check.ask('lrange', job.key .. Keys.history, -100, -1) or {}, need('history/entry_time')
    for i = #list, 1, -1 do
      local when = #list[i] < check.longest and string.sub(list[i], 1, 14) ~= '[0,"unreadable' and moment(list[i])
      if when and tonumber(when) <= check.latest then return when end
    end
  end

  return function(job, what)
    local key = job.key
    -- Adds a finding that gives a field a new value. With `keep`, the repair saves the old value in a field
    -- `bad-<name>`.
    local function add_new_value(name, value, keep, more)
      local old = job[name]
      local changes = {{'hash', key, name, old, value}}
      if keep and old then
        changes[2] = {'hash', key, 'bad-' .. name, check.ask('hget', key, 'bad-' .. name), old}
      end
      if more then changes[#changes + 1] = more end
      check.add('job-unreadable', job.id, old and name or 'no ' .. name, changes)
    end
    local function report(name) check.add('job-unreadable', job.id, name, {}, 'part') end

    if not number(job.priority) then
      local place
      if what == 'job' and (job.state == 'waiting' or job.state == 'stalled') then
        local work = Keys.queue .. job.queue .. Keys.work
        local score = check.ask('zscore', work, job.id)
        if score and not check.fits_priority(job, score) then
          place = {'zset', work, job.id, score, check.work_score(job)}
        end
      end
      add_new_value('priority', '0', true, place)
    end
    local tags, long = check.need('judge/tag_list')(job.tags)
    if long then
      check.too_long('j:' .. job.id, 'tags')
    elseif not tags then
      add_new_value('tags', indexed_tags(job), true)
    end
    if job.throttles and not check.need('judge/tag_list')(job.throttles) then add_new_value('throttles', '[]', true) end
    if not job.remaining or not string.find(job.remaining, '^%-?%d+$') or #job.remaining > 19 then
      local tries = need('value/whole_tries')(number(job.remaining) or number(job.retries) or 0)
      add_new_value('remaining', string.format('%.0f', tries))
    end
    if not job.worker then add_new_value('worker', '') end
    -- Leave out `expires` of a running job: `judge/running` restores it from the job's lock.
    if not job.expires and not (what == 'job' and job.state == 'running') then add_new_value('expires', '0') end
    if not number(job.time) then
      local when = newest_time(job)
      local name = 'time'
      if when then add_new_value(name, when) else report(job.time and name or 'no time') end
    end
    -- `scheduled` must be a number: when the reference core releases the job, it copies the field into the
    -- schedule.
    if job.state == 'depends' and job.scheduled then
      local due = tonumber(job.scheduled)
      if not due or due ~= due or string.find(job.scheduled, '%s') then add_new_value('scheduled', false) end
    end
    if not number(job.retries) then report(job.retries and 'retries' or 'no retries') end
    if job.state and check.homes[job.state] == nil then report('state') end
    local data = job.data
    if data then
      if #data > check.longest then
        check.too_long('j:' .. job.id, 'data')
      elseif not pcall(cjson.decode, data) then
        report('data')
      end
    end
  end
end
