-- Puts jobs in order, each completely or not at all.
-- Takes: policy, then per job: the number of its words, queue jid klass data delay [key value ...]
-- Returns: per job outcome, mark and details: `done` (state, dependencies that are complete or missing),
--   `exists` (time of its first entry and of its newest put), `missing_dependency` (which), `cycle` (its
--   jids), `invalid` (why)
-- Refuses: wrong words, more than 500 jobs
-- Publishes: as put
local Old = Fields('job/put', 'jid')


-- Reads the words of one job. Wrong words are raised; `invalid` says why the job itself is impossible.
local function read_job(argv, first, count)
  local job = {queue = argv[first], jid = argv[first + 1], klass = argv[first + 2], data = argv[first + 3]}
  if count < 5 or count % 2 == 0 then error('Guard(): a job has 5 words and pairs of options') end
  local json, number = need('value/json_arg'), need('value/number')
  local delay = number(argv[first + 4])
  if not delay then error('Guard(): delay is not a number: ' .. argv[first + 4]) end
  if json('data', job.data) == false then error('Guard(): data must not be the bare document false') end
  local o, given = {}, {}
  for i = first + 5, first + count - 1, 2 do given[argv[i]] = argv[i + 1] end
  for name, value in pairs(given) do
    if name == 'priority' or name == 'retries' or name == 'remaining' or name == 'at' then
      local n = number(value)
      if not n then error('Guard(): ' .. name .. ' is not a number: ' .. value) end
      if name == 'remaining' and n % 1 ~= 0 then error('Guard(): remaining must be a whole number') end
      if name == 'remaining' then n = need('value/whole_tries')(n) end
      if name == 'at' then job.at = n else o[name] = n end
    elseif name == 'tags' or name == 'depends' then
      json(name, value)
      o[name] = need('value/names')(value)
      if not o[name] then error('Guard(): ' .. name .. ' must be a JSON array of texts') end
    elseif name == 'history' then
      o.history = need('job/restore').history(value)
    elseif name == 'failed' then
      o.failed = need('job/restore').failed(value)
    elseif name == 'spawned_from_jid' then
      o.spawned_from_jid = value
    elseif name == 'note' then
      job.note = value
    else
      error('Guard(): unknown option ' .. name)
    end
  end
  if job.at and delay ~= 0 then error('Guard(): at and a delay exclude each other') end
  if o.failed and (o.depends and o.depends[1] or job.at or delay ~= 0) then
    error('Guard(): failed excludes depends, at and a delay')
  end
  job.delay, job.o = delay, o
  if job.queue == '' then
    job.invalid = 'queue name is empty'
  elseif job.jid == '' then
    job.invalid = 'jid is empty'
  elseif need('job/reserved')(job.jid) then
    job.invalid = 'jid ends in -history, -dependencies or -dependents'
  end
  return job
end

-- Returns the details of `exists`.
local function ages(jid)
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

return function(argv, now, t, seconds)
  local policy = need('value/object_arg')('policy', argv[3], {replace = 'boolean', missing = 'string', me = 'string'})
  local missing_policy = policy.missing or 'refuse'
  if missing_policy ~= 'refuse' and missing_policy ~= 'allow' then
    error('Guard(): missing must be "refuse" or "allow"')
  end
  local jobs, at = {}, 4
  while argv[at] do
    local count = tonumber(argv[at])
    if not count or count % 1 ~= 0 or count < 1 or at + count > #argv then
      error('Guard(): wrong number of words: ' .. argv[at])
    end
    local job = read_job(argv, at + 1, count)
    job.entry = job.note and need('history/note')(seconds, job.note) or nil
    jobs[#jobs + 1] = job
    if #jobs > 500 then error('Guard(): more than 500 jobs') end
    at = at + count + 1
  end

  local call, reply = redis.call, {}
  local progress = {}
  local outcome, key_fault, mark_of = need('value/outcome_row'), need('value/key_fault')(progress), need('job/mark')
  local put, classify, cycle_of, job_key_fault = need('job/put'), need('dependency/classify'), need('dependency/find_cycle'), need('job/key_fault')
  for i = 1, #jobs do
    local job = jobs[i]
    local jid, queue, o, row = job.jid, job.queue, job.o, nil
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
      row = outcome('exists', (mark_of(jid, old[Old.state], old[Old.queue])), ages(jid))
    elseif not invalid then
      if old[Old.state] or old[Old.queue] or old[Old.worker] or old[Old.tags] then
        invalid = job_key_fault(key_fault, jid, old[Old.state], old[Old.queue], old[Old.worker], old[Old.tags], old[Old.failure])
      end
      if not invalid and o.tags then
        invalid = key_fault('zset', Keys.tags)
        for k = 1, #o.tags do invalid = invalid or key_fault('zset', Keys.tag .. o.tags[k]) end
      end
      if not invalid and o.failed then
        local at = o.failed.when
        invalid = key_fault('set', Keys.failures, 'list', Keys.group .. o.failed.group,
          'hash', Keys.stats .. at - at % 86400 .. ':' .. queue)
      end
    end
    local passed = {}
    if not invalid and not row and o.depends and o.depends[1] then
      local path, trouble = cycle_of(jid, o.depends, progress.wrote)
      if path then
        row = outcome('cycle', old[Old.jid] and (mark_of(jid, old[Old.state], old[Old.queue])) or '', path)
      elseif path == false then
        invalid = trouble
      else
        local pending, complete, missing = classify(o.depends, progress.wrote)
        if missing[1] and missing_policy == 'refuse' then
          row = outcome('missing_dependency', old[Old.jid] and (mark_of(jid, old[Old.state], old[Old.queue])) or '', missing)
        else
          o.pending, passed = pending, complete
          for k = 1, #missing do passed[#passed + 1] = missing[k] end
          for k = 1, #pending do invalid = invalid or key_fault('set', Keys.job .. pending[k] .. Keys.dependents) end
          -- The present dependencies, of which some may go.
          local before = invalid and {} or call('smembers', key .. Keys.dependencies)
          for k = 1, #before do invalid = invalid or key_fault('set', Keys.job .. before[k] .. Keys.dependents) end
        end
      end
    end
    if invalid then
      row = outcome('invalid', not old.err and old[Old.jid] and (mark_of(jid, old[Old.state], old[Old.queue])) or '', invalid)
    elseif not row then
      if job.at and job.at > now then o.due = string.format('%.17g', job.at) end
      o.note = job.entry
      local state = put(now, t, seconds, policy.me or '', queue, jid, job.klass, job.data, job.delay, o, old)
      row = outcome('done', '', state, passed)
      progress.wrote = true
    end
    reply[i] = row
  end
  return reply
end
