-- Checks the fields of a job: those that every command needs must exist and be readable for every client.
-- Takes: job; what `c.read` returned with it
return function(c)
  local number = need('value/number')

  -- Returns the tags whose index lists the job, as JSON.
  local function indexed(j)
    local names, found = c.ask('zrange', Keys.tags, 0, 999) or {}, {}
    need('value/sort')(names)
    for i = 1, #names do
      if c.ask('zscore', Keys.tag .. names[i], j.id) then found[#found + 1] = names[i] end
    end
    return found[1] and cjson.encode(found) or '{}'
  end

  -- Returns the time of the newest readable history entry that is not in the future, as text.
  local function newest(j)
    local list, moment = c.ask('lrange', j.key .. Keys.history, -100, -1) or {}, need('history/entry_time')
    for i = #list, 1, -1 do
      local when = #list[i] < 250000 and string.sub(list[i], 1, 14) ~= '[0,"unreadable' and moment(list[i])
      if when and tonumber(when) <= c.now + 3600 then return when end
    end
  end

  return function(j, what)
    local key = j.key
    -- Notes a new value for a field. `keep`: the old value goes into a field `bad-<name>`.
    local function amend(name, value, keep, more)
      local old = j[name]
      local changes = {{'hash', key, name, old, value}}
      if keep and old then
        changes[2] = {'hash', key, 'bad-' .. name, c.ask('hget', key, 'bad-' .. name), old}
      end
      if more then changes[#changes + 1] = more end
      c.add('job-unreadable', j.id, old and name or 'no ' .. name, changes)
    end
    local function report(name) c.add('job-unreadable', j.id, name, {}, 'part') end

    if not number(j.priority) then
      local place
      if what == 'job' and (j.state == 'waiting' or j.state == 'stalled') then
        local work = Keys.queue .. j.queue .. Keys.work
        local score = c.ask('zscore', work, j.id)
        if score and not c.fits_priority(j, score) then place = {'zset', work, j.id, score, c.work_score(j)} end
      end
      amend('priority', '0', true, place)
    end
    local tags, long = c.need('judge/tag_list')(j.tags)
    if long then
      c.add('not-judged', 'j:' .. j.id, 'tags beyond 250000 bytes')
    elseif not tags then
      amend('tags', indexed(j), true)
    end
    if j.throttles and not c.need('judge/tag_list')(j.throttles) then amend('throttles', '[]', true) end
    if not j.remaining or not string.find(j.remaining, '^%-?%d+$') or #j.remaining > 19 then
      local tries = need('value/whole_tries')(number(j.remaining) or number(j.retries) or 0)
      amend('remaining', string.format('%.0f', tries))
    end
    if not j.worker then amend('worker', '') end
    -- A running job gets the field from its lock.
    if not j.expires and not (what == 'job' and j.state == 'running') then amend('expires', '0') end
    if not number(j.time) then
      local when = newest(j)
      local name = 'time'
      if when then amend(name, when) else report(j.time and name or 'no time') end
    end
    -- The reference core copies this field into the schedule when the last dependency is complete.
    if j.state == 'depends' and j.scheduled then
      local due = tonumber(j.scheduled)
      if not due or due ~= due or string.find(j.scheduled, '%s') then amend('scheduled', false) end
    end
    if not number(j.retries) then report(j.retries and 'retries' or 'no retries') end
    if j.state and not c.states[j.state] then report('state') end
    local data = j.data
    if data then
      if #data > 250000 then
        c.add('not-judged', 'j:' .. j.id, 'data beyond 250000 bytes')
      elseif not pcall(cjson.decode, data) then
        report('data')
      end
    end
  end
end
