-- Checks a job whose hash has lost its essential fields.
-- Takes: job; what `c.read` returned with it; the queue in whose set the check met it, if any
return function(c)
  local parts = {Keys.work, Keys.locks, Keys.scheduled, Keys.depends, Keys.throttled}

  -- Returns the changes that set a remnant aside and remove its entries everywhere.
  local function remove(j, seen)
    local changes = {}
    local function drop(key)
      local score = c.ask('zscore', key, j.id)
      if score then changes[#changes + 1] = {'zset', key, j.id, score, false} end
    end
    local sets, done = c.sets(), {}
    for i = 1, #sets do
      done[sets[i].queue] = true
      drop(sets[i].key)
    end
    for _, queue in ipairs({seen or j.queue, j.queue}) do
      if queue and not done[queue] then
        done[queue] = true
        for i = 1, #parts do drop(Keys.queue .. queue .. parts[i]) end
      end
    end
    drop(Keys.completed)
    if j.worker and j.worker ~= '' then drop(Keys.worker .. j.worker .. Keys.held) end
    c.need('index/failure_lists').remove_everywhere(changes, j.id)
    local tags = c.ask('zrange', Keys.tags, 0, 999) or {}
    for i = 1, #tags do
      local score = c.ask('zscore', Keys.tag .. tags[i], j.id)
      if score then
        changes[#changes + 1] = {'zset', Keys.tag .. tags[i], j.id, score, false}
        c.need('index/tag_counter')(changes, tags[i], -1)
      end
    end
    return c.set_aside(changes, j.key)
  end

  return function(j, what, seen)
    if what == 'stub' then
      -- A hash in the place of a companion key is not what is left of a job.
      if need('job/reserved')(j.id) then return c.need('key/key')(string.sub(j.key, #Keys.prefix + 1)) end
      if c.outcome('job-stub') then c.add('job-stub', j.id, 'nothing but leftovers', remove(j, seen)) end
      return
    end
    if j.jid ~= j.id then
      c.add('job-stub', j.id, j.jid and 'jid is ' .. j.jid or 'no jid', {{'hash', j.key, 'jid', j.jid, j.id}}, 'data')
    end
    local missing = {}
    if not j.klass then missing[#missing + 1] = 'klass' end
    j.data = c.ask('hget', j.key, 'data')
    if not j.data then missing[#missing + 1] = 'data' end
    if not j.state then missing[#missing + 1] = 'state' end
    if not j.queue then missing[#missing + 1] = 'queue' end
    if missing[1] then c.add('job-stub', j.id, 'no ' .. table.concat(missing, ', '), {}, 'part') end
  end
end
