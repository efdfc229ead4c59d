-- Verifies and puts the jobs of guard.put, one by one.
-- Takes: now; t; seconds; policy; the state of the call: `key_fault` (the function of value/key_fault), its `progress`,
--   and `defaults` (by queue, as text)
-- Result: a function of a job (job/put_args), which returns its row
-- Publishes: as job/put and job/put_extended
local Old = Fields('job/put', 'throttles', 'jid')

-- The details of `exists`.
local function entry_times(jid)
  local key, entry_time = Keys.job .. jid .. Keys.history, need('history/entry_time')
  local history = redis.pcall('lrange', key, -1000, -1)
  if history.err or not history[1] then return false, false end
  local first, put = entry_time(redis.call('lrange', key, 0, 0)[1]) or false, false
  for i = #history, 1, -1 do
    if string.find(history[i], '^%[%-?%d+,%s*"put"') then
      put = entry_time(history[i]) or false
      break
    end
  end
  return first, put
end

return function(now, t, seconds, policy, call_state)
  local key_fault, progress, defaults = call_state.key_fault, call_state.progress, call_state.defaults
  local refuse_missing = policy.missing ~= 'allow'
  local outcome, mark_of = need('value/outcome_row'), need('job/mark')
  local put, job_key_fault = need('job/put'), need('job/key_fault')
  local classify, find_cycle = need('dependency/classify'), need('dependency/find_cycle')
  local function old_mark(jid, old)
    return old[Old.jid] and (mark_of(jid, old[Old.state], old[Old.queue])) or ''
  end
  return function(job)
    local jid, queue, row = job.jid, job.queue, nil
    local key, base = Keys.job .. jid, Keys.queue .. queue
    local old = redis.pcall('hmget', key, unpack(Old))
    local invalid = job.invalid
      or old.err and need('value/wrong_type')(old, progress.wrote, 'hash', key, 'hmget', key, 'jid', 'state')
      or key_fault('hash', Keys.config)
    if not invalid then
      invalid = key_fault('zset', Keys.queues, 'list', key .. Keys.history, 'set', key .. Keys.dependencies,
        'zset', base .. Keys.work, 'zset', base .. Keys.scheduled, 'zset', base .. Keys.depends, 'zset', Keys.tracked)
    end
    if not invalid and old[Old.jid] and not policy.replace then
      row = outcome('exists', old_mark(jid, old), entry_times(jid))
    elseif not invalid then
      local state, from, worker, tags = old[Old.state], old[Old.queue], old[Old.worker], old[Old.tags]
      if state or from or worker or tags then
        local stored = {state = state, queue = from, worker = worker, tags = tags, failure = old[Old.failure]}
        invalid = job_key_fault(key_fault, jid, stored)
      end
      if not invalid and job.tags then
        invalid = key_fault('zset', Keys.tags)
        for k = 1, #job.tags do invalid = invalid or key_fault('zset', Keys.tag .. job.tags[k]) end
      end
      if not invalid and job.failed then
        local at = job.failed.when
        invalid = key_fault('set', Keys.failures, 'list', Keys.group .. job.failed.group,
          'hash', Keys.stats .. at - at % 86400 .. ':' .. queue)
      end
    end
    local passed = {}
    if not invalid and not row and job.history and job.depends and job.coordination and job.coordination.lane then
      job.depends = need('lane/without_lane_dependencies')(job.coordination.lane, job.depends, old[Old.jid])
    end
    if not invalid and not row and job.depends and job.depends[1] then
      local path, trouble = find_cycle(jid, job.depends, progress.wrote)
      if path then
        row = outcome('cycle', old_mark(jid, old), path)
      elseif path == false then
        invalid = trouble
      else
        local pending, complete, missing = classify(job.depends, progress.wrote)
        if missing[1] and refuse_missing then
          row = outcome('missing_dependency', old_mark(jid, old), missing)
        else
          job.pending, passed = pending, complete
          for k = 1, #missing do passed[#passed + 1] = missing[k] end
          for k = 1, #pending do invalid = invalid or key_fault('set', Keys.job .. pending[k] .. Keys.dependents) end
          -- The put may remove the job from its present dependencies: test the types of their keys, too.
          invalid = invalid or need('dependency/key_fault')(key_fault, jid)
        end
      end
    end
    if invalid then
      row = outcome('invalid', old_mark(jid, old), invalid)
    elseif not row then
      if job.at and job.at > now then job.due = string.format('%.17g', job.at) end
      job.me, job.who, job.maxima = policy.me or '', 'Guard', policy.maxima
      local took, state, behind = jid, nil, nil
      -- A restored job keeps the options that it had: its first put applied the defaults of the queue.
      local queue_defaults = not job.history and defaults[queue]
      if job.coordination or queue_defaults or old[Old.throttles] then
        local ok
        ok, took, state, behind = pcall(need('job/put_extended'), now, t, seconds, job, old, queue_defaults)
        if not ok then
          need('value/raise_write_refusal')(took)
          return outcome('invalid', old_mark(jid, old), need('value/error_text')(took))
        end
        if not took then return outcome('cycle', old_mark(jid, old), behind) end
      else
        state = put(now, t, seconds, job, old)
      end
      if policy.lanes then
        row = outcome('done', '', state, took, behind or '', passed)
      else
        row = outcome('done', '', state, passed)
      end
      progress.wrote = true
    end
    return row
  end
end
