-- Checks that a job is in the set of its state in its own queue, and in no other set of any queue.
-- Takes: job; the queue of the set in which the check found the job, if any
return function(check)
  local parts = {Keys.work, Keys.locks, Keys.scheduled, Keys.depends, Keys.throttled}

  -- Adds the entry of a job in a set to `entries`, if there is one. Returns its score, and whether the key has
  -- another type.
  local function add_entry(entries, key, part, queue, jid)
    local score, wrong = check.ask('zscore', key, jid)
    if wrong then
      check.wrong_type(key, 'zset')
    elseif score then
      entries[#entries + 1] = {key = key, part = part, queue = queue, score = score}
    end
    return score, wrong
  end

  -- Adds the entries of a job in the sets of one queue to `entries`. Returns their scores by set, and whether no
  -- key has another type.
  local function add_queue_entries(entries, queue, jid)
    local held, fine = {}, true
    for i = 1, #parts do
      local score, wrong = add_entry(entries, Keys.queue .. queue .. parts[i], parts[i], queue, jid)
      held[parts[i]] = score or nil
      fine = fine and not wrong
    end
    return held, fine
  end

  return function(job, seen)
    local home, own = check.homes[job.state], job.queue
    if job.state == 'complete' and own ~= '' then return check.need('judge/complete')(job) end
    if seen == own and job.state ~= 'complete' then seen = nil end
    local entries, held, fine = {}, {}, true
    -- A job in another state, such as a completed one, has no set in its queue.
    if home or job.state == 'failed' then held, fine = add_queue_entries(entries, own, job.id) end
    if not fine then return end
    job.scores = held
    if job.state == 'waiting' and not held[home] and held[Keys.scheduled] then home = Keys.scheduled end
    if job.state == 'depends' and not held[home] and check.outcome('depends-on-nothing')
      and check.ask('scard', job.key .. Keys.dependencies) == 0 then
      return
    end
    local placed, beyond = not home or held[home], false
    if seen then add_queue_entries(entries, seen, job.id) end
    if not placed then
      local sets
      sets, beyond = check.sets()
      for i = 1, #sets do
        local set = sets[i]
        if set.queue ~= own and set.queue ~= seen then add_entry(entries, set.key, set.part, set.queue, job.id) end
      end
    end

    -- Find the entries that the job must not have, in the sets of its own queue and of other queues.
    local wrong, drops, foreign, outside, locked = {}, {}, {}, {}, {}
    local part, score, extra
    if not placed then part, score, extra = check.need('repair/home')(job, check.homes[job.state], entries) end
    for i = 1, #entries do
      local entry = entries[i]
      local here = entry.queue == own
      local right = here and entry.part == (placed and home or part)
      if not right or not placed then
        local list = here and wrong or foreign
        list[#list + 1] = entry
        -- If the job is in its own set, a second finding has its entries in other queues.
        local from = (here or not placed) and drops or outside
        if not right then from[#from + 1] = {'zset', entry.key, job.id, entry.score, false} end
        -- A repair must not remove a valid lock, unless the job is in state `depends` without a worker: then no
        -- worker holds it.
        if entry.part == Keys.locks and job.state ~= 'running' and tonumber(entry.score) > check.now
          and not (placed and job.state == 'depends' and (job.worker or '') == '') then
          locked[from] = 'locked'
        end
      end
    end
    if not home then
      for i = 1, #entries do
        local entry = entries[i]
        check.add(entry.part == Keys.locks and 'lock-without-run' or 'in-two-sets', job.id,
          string.sub(entry.key, #Keys.prefix + 1), {{'zset', entry.key, job.id, entry.score, false}})
      end
      return
    end
    local function first_key(list)
      table.sort(list, function(a, b) return a.key < b.key end)
      return string.sub(list[1].key, #Keys.prefix + 1)
    end
    if placed then
      if wrong[1] then check.add('in-two-sets', job.id, first_key(wrong), drops, locked[drops]) end
      if foreign[1] then check.add('in-foreign-queue', job.id, first_key(foreign), outside, locked[outside]) end
      return
    end
    local id, detail = 'in-no-set', own
    if wrong[1] then
      id, detail = 'in-two-sets', first_key(wrong)
    elseif foreign[1] then
      id, detail = 'in-foreign-queue', first_key(foreign)
    elseif beyond then
      check.add('not-judged', job.id, 'more than 500 queues')
      return
    elseif job.state == 'running' then
      id = 'running-without-lock'
    end
    if not score then return check.add(id, job.id, detail, {}, (wrong[1] or foreign[1]) and 'locked' or 'ahead') end
    if held[part] ~= score then
      drops[#drops + 1] = {'zset', Keys.queue .. own .. part, job.id, held[part], score}
    end
    -- Note the set into which the repair puts the job: if the same call releases the job, it removes the job from
    -- that set.
    if not locked[drops] and check.outcome(id) == 'found' then job.enters = {[part] = score} end
    for i = 1, #extra do drops[#drops + 1] = extra[i] end
    check.list_queue(drops, own)
    check.add(id, job.id, detail, drops, locked[drops])
  end
end
