-- Collects what the endings of one call write to shared keys, and writes it once: locks, the list of the worker,
-- statistics, completed jobs, queues and failure lists. A batch of one job would cost 2.9 times the command
-- `retry`, 2.3 times `fail` and twice `complete`, so these commands write by themselves.
-- Takes: now; t; seconds; worker; a list that begins with the stored settings `max-job-history`, `jobs-history`,
--   `jobs-history-count`
-- Result: the batch. Its `queue(name)` is the record of a queue; `fault` tests keys as value/key_fault;
--   `refuse(jid)` and `invalid(text)` are rows of the reply, and so is `single(command, ...)`, which ends a job by
--   the single command; `flush()` writes everything.
--   The record of a queue: `base`, what its keys begin with; `json`, its name; `key_fault`, which of the keys of every
--   ending has a wrong type; and what flush() writes: `locks` that end, `work` and `scheduled` (queue/place), the
--   `durations` of runs, how many jobs `failed`, whether the queue gets `listed`
local call = redis.call

return function(now, t, seconds, worker, settings)
  local age, history_count = settings[2], settings[3]
  local batch = {
    now = now, t = t, seconds = seconds, worker = worker,
    limit = tonumber(settings[1] or 100) or 100, jobs_history = age, jobs_history_count = history_count,
    stamp = string.format('%.20f', now),
    held = {}, completed = {}, groups = {}, failed = {},
    -- Whether any job is tracked, or a job of the call has dependents.
    any_related = false,
  }
  local day, queues, names = now - now % 86400 .. ':', {}, {}
  -- The batch is also the `progress` that value/key_fault takes: its field `wrote` says whether the call has written.
  batch.fault = need('value/key_fault')(batch)

  function batch.queue(name)
    local queue = queues[name]
    if not queue then
      queue = {base = Keys.queue .. name, json = cjson.encode(name), locks = {}, work = {}, scheduled = {}, scores = {},
        durations = {}, failed = 0}
      -- The keys that every ending needs.
      queue.key_fault = batch.fault('zset', queue.base .. Keys.locks, 'zset', Keys.worker .. worker .. Keys.held)
      queues[name], names[#names + 1] = queue, name
    end
    return queue
  end

  -- How many seconds failed jobs are kept, and what is wrong with that setting (failure/age). Read once per call.
  local failed_age, failed_fault
  function batch.failed_age()
    if failed_age == nil then
      local setting = redis.pcall('hget', Keys.config, 'jobs-failed-history')
      failed_age, failed_fault = need('failure/age')(setting)
      failed_age = failed_age or false
    end
    return failed_age, failed_fault
  end

  function batch.invalid(text)
    return {'invalid', need('value/error_text')(text)}
  end

  -- The row of a job whose read was refused.
  function batch.unreadable(reply, key)
    return batch.invalid(need('value/wrong_type')(reply, batch.wrote, 'hash', key, 'hget', key, 'jid'))
  end

  -- What is wrong with the keys or the setting that a failure needs, nil if nothing is.
  function batch.failure_fault(key, group)
    return batch.fault('list', key .. Keys.history, 'set', Keys.failures, 'list', Keys.group .. group,
      'zset', Keys.tracked) or select(2, batch.failed_age())
  end

  -- The row of a job that this worker does not hold. Enters the completed jobs first, which may delete this old job.
  function batch.refuse(jid)
    batch.forget()
    local job = call('hmget', Keys.job .. jid, 'state', 'worker')
    if not job[1] and not job[2] then return {'gone'} end
    return {'not_holder', job[1] or '', job[2] or ''}
  end

  -- Enters the completed jobs, and deletes old ones: up to 2000, as two single completions would.
  -- An old job that cannot be deleted does not stop the rest of the call.
  function batch.forget()
    local list = batch.completed
    if not list[1] then return end
    batch.completed = {}
    need('value/in_chunks')('zadd', Keys.completed, list, 1, #list)
    local forget = need('job/forget_complete')
    for _ = 2, math.min(#list, 4), 2 do
      local ok, gone = pcall(forget, now, age, history_count)
      if not ok or gone == 0 then break end
    end
  end

  -- Ends a job with a lane, throttles or a back-off by its single command, since this also changes keys of other jobs.
  -- What the batch has collected is written before.
  function batch.single(name, argv, jid, queue, first, last)
    batch.flush()
    local words = {name, t, jid, name == 'retry' and queue or worker}
    if name == 'retry' then words[5] = worker end
    if name == 'complete' then words[5] = queue end
    for i = first, last do words[#words + 1] = argv[i] end
    if name == 'fail' and words[7] == '' then words[7] = nil end
    local ok, reply = pcall(need(name, true), words, now, t, seconds, name == 'complete' and settings or nil)
    if not ok then
      need('value/raise_write_refusal')(reply)
      return batch.invalid(reply)
    end
    -- The job may now depend on another job of this call.
    batch.wrote, batch.any_related = true, true
    if name == 'fail' then return {'done', 'failed'} end
    return {'done', name == 'complete' and reply or string.format('%.14g', reply)}
  end

  function batch.flush()
    if not batch.wrote then return end
    local in_chunks = need('value/in_chunks')
    batch.forget()
    for i = 1, #names do
      local name = names[i]
      local queue = queues[name]
      local locks = queue.locks
      -- Sort the jids as the set is sorted: then Redis finds each next entry at the beginning of the set.
      table.sort(locks)
      -- If a lock was missing, it is unknown which job had none: remove all these jobs from whichever set they are in,
      -- since none of them runs any more.
      if locks[1] and in_chunks('zrem', queue.base .. Keys.locks, locks, 1, #locks) < #locks then
        local remove = need('queue/remove_from_state_set')
        for k = 1, #locks do pcall(remove, locks[k], 'running', name) end
      end
    end
    for i = 1, #names do
      local name = names[i]
      local queue = queues[name]
      if queue.durations[1] then need('stats/add_values')(Keys.run .. day .. name, queue.durations) end
      need('queue/enter')(queue)
      if queue.listed then call('zadd', Keys.queues, 'NX', t, name) end
      if queue.failed > 0 then
        local count = need('stats/count')
        count(Keys.stats .. day .. name, 'failures', queue.failed)
        count(Keys.stats .. day .. name, 'failed', queue.failed)
      end
    end
    table.sort(batch.held)
    if batch.held[1] then in_chunks('zrem', Keys.worker .. worker .. Keys.held, batch.held, 1, #batch.held) end
    for group, jids in pairs(batch.groups) do
      call('sadd', Keys.failures, group)
      in_chunks('lpush', Keys.group .. group, jids, 1, #jids)
    end
    local age = batch.failed[1] and batch.failed_age()
    if age then need('failure/forget_old')(now, t, batch.failed, age) end
    queues, names, batch.held, batch.groups, batch.failed = {}, {}, {}, {}, {}
  end
  return batch
end
