-- Completes jobs as the command `complete` does.
-- Takes: the batch; argv
-- Result: a function of jid, queue and the positions in argv of the first and of the last argument of `complete`,
--   which returns the row of the reply. Empty data keeps the data of the job
-- Publishes: as `complete`
local Job = Fields('worker', 'state', 'queue', 'priority', 'retries', 'time', 'history', 'grace', 'scheduled',
  'throttles')

return function(batch, argv)
  local call, encode, decode = redis.call, cjson.encode, cjson.decode
  local now, t, worker, stamp, place = batch.now, batch.t, batch.worker, batch.stamp, need('queue/place')
  local done = '[' .. batch.seconds .. ',"done"]'
  -- Whether the keys that belong to no queue were found to have the right types.
  local sound = false

  -- Makes a job wait for others. Returns what is wrong with a key, nil if nothing is.
  local function link(jid, key, pending)
    local bad = batch.fault('list', key .. Keys.history, 'set', key .. Keys.dependencies)
    for i = 1, #pending do bad = bad or batch.fault('set', Keys.job .. pending[i] .. Keys.dependents) end
    if bad then return bad end
    need('dependency/link')(jid, pending)
    batch.any_related = true
  end

  return function(jid, queue, first, last)
    local data = argv[first]
    if first > last then data = nil end
    if data ~= '' then
      local ok, value = true, false
      if data then ok, value = pcall(decode, data) end
      if not ok then return batch.invalid(value) end
      if value == false then
        return batch.invalid('Complete(): Arg "data" missing or not JSON: ' .. tostring(data))
      end
    end
    local following, delay, names, given, coordination
    if last > first then
      local ok
      ok, following, delay, names, given, coordination = pcall(need('ending/complete_options'), argv, first + 1, last)
      if not ok then return batch.invalid(following) end
    end

    local key = Keys.job .. jid
    local job = redis.pcall('hmget', key, unpack(Job))
    if job.err then return batch.unreadable(job, key) end
    if job[Job.state] ~= 'running' or job[Job.worker] ~= worker or job[Job.queue] ~= queue then
      return batch.refuse(jid)
    end
    if coordination or job[Job.throttles] then return batch.single('complete', argv, jid, queue, first, last) end
    if names == false then return batch.invalid('Complete(): Arg "depends" not JSON: ' .. given.depends) end
    local home, target = batch.queue(queue), following and batch.queue(following)
    local bad = home.key_fault or not sound and batch.fault('zset', Keys.completed, 'zset', Keys.tracked)
    sound = not bad
    if target then
      bad = bad or batch.fault('zset', Keys.queues, 'zset', target.base .. Keys.work,
        'zset', target.base .. Keys.scheduled, 'zset', target.base .. Keys.depends)
    end
    local history = key .. Keys.history
    if job[Job.history] then bad = bad or batch.fault('list', history) end
    if bad then return batch.invalid(bad) end
    local pending = names and names[1] and need('dependency/pending_dependencies')(jid, names)
    pending = pending and pending[1] and pending
    if pending then
      bad = link(jid, key, pending)
      if bad then return batch.invalid(bad) end
    end

    if job[Job.history] then need('history/migrate')(jid, job[Job.history]) end
    local length
    if following then
      length = redis.pcall('rpush', history, done, '[' .. batch.seconds .. ',"put",{"q":' .. target.json .. '}]')
    else
      length = redis.pcall('rpush', history, done)
    end
    if type(length) == 'table' then
      return batch.invalid(need('value/wrong_type')(length, batch.wrote, 'list', history, 'rpush', history, done))
    end
    batch.wrote = true
    if length > batch.limit then need('history/trim')(history, length, batch.limit) end
    local tracked, dependents = false, nil
    if batch.any_related then
      tracked = call('zscore', Keys.tracked, jid)
      dependents = redis.pcall('smembers', key .. Keys.dependents)
    end
    -- Remove the lock of a blocked job now, not at the end of the call: another completion may release the job before
    -- the end.
    if pending then
      if call('zrem', home.base .. Keys.locks, jid) == 0 then
        need('queue/remove_from_state_set')(jid, 'running', queue)
      end
    else
      home.locks[#home.locks + 1] = jid
    end
    batch.held[#batch.held + 1] = jid
    local started = tonumber(job[Job.time])
    if not started or started - started ~= 0 then started = now end
    home.durations[#home.durations + 1] = now - started
    local retries = job[Job.retries] or '0'
    if not string.find(retries, '^%d+$') then
      retries = tonumber(retries) or 0
      retries = retries - retries == 0 and need('value/whole_tries')(retries) or 0
    end
    if job[Job.grace] then call('hdel', key, 'grace') end
    if tracked then call('publish', Keys.on_completed, jid) end

    local state, due, timed, quoted = 'complete', nil, false, encode(jid)
    if following then
      due = delay > 0 and string.format('%.17g', now + delay)
      state = pending and 'depends' or due and 'scheduled' or 'waiting'
      call('publish', Keys.on_log, '{"jid":' .. quoted .. ',"to":' .. target.json ..
        ',"event":"advanced","queue":' .. home.json .. '}')
    else
      call('publish', Keys.on_log, '{"jid":' .. quoted .. ',"event":"completed","queue":' .. home.json .. '}')
    end
    if data == '' then
      call('hmset', key, 'time', stamp, 'state', state, 'worker', '', 'failure', '{}', 'queue', following or '',
        'expires', '0', 'remaining', retries)
    else
      call('hmset', key, 'data', data, 'time', stamp, 'state', state, 'worker', '', 'failure', '{}',
        'queue', following or '', 'expires', '0', 'remaining', retries)
    end
    if not following then
      batch.completed[#batch.completed + 1], batch.completed[#batch.completed + 2] = t, jid
      if php then need('job/list_complete')(now, t, jid, queue, batch.jobs_history, batch.jobs_history_count) end
    else
      target.listed = true
      timed = place(now, t, jid, target, state, state == 'waiting' and job[Job.priority] or due)
    end
    if job[Job.scheduled] and not timed then call('hdel', key, 'scheduled') end
    if dependents and dependents[1] and not following then
      -- Ignore an error about the keys of dependents: the job is complete nevertheless.
      pcall(need('dependency/release_dependents'), now, jid, dependents)
    end
    return {'done', state}
  end
end
