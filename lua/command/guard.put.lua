-- Puts jobs in order, each completely or not at all.
-- Takes: policy, then per job: the number of its words, queue jid klass data delay [key value ...]
-- Result: per job outcome, mark and details: `done` (state, dependencies that are complete or missing),
--   `exists` (time of its first entry and of its newest put), `missing_dependency` (which), `cycle` (its
--   jids), `invalid` (why). With `lanes` in the policy, `done` has after the state the jid that took the job and
--   that of the job before it in its lane, or ''; if another job took it, the state is `merged`, `skipped` or
--   `replaced`. With `dry`, what the call would do; it writes nothing. `maxima` gives throttles maxima by id, in the
--   name of `by`, if a job is put, merged or replaced: its put already counts with them
-- Refuses: wrong words, more than 500 jobs, more than 50000 tags and
--   dependencies of all jobs
-- Publishes: as put
return function(argv, now, t, seconds)
  local policy = need('value/object_arg')('policy', argv[3],
    {replace = 'boolean', missing = 'string', me = 'string', lanes = 'boolean', dry = 'boolean', maxima = 'table',
      by = 'string'})
  local missing_policy = policy.missing or 'refuse'
  if missing_policy ~= 'refuse' and missing_policy ~= 'allow' then
    error('Guard(): missing must be "refuse" or "allow"')
  end
  local jobs, at, links, put_args = {}, 4, 0, need('job/put_args')
  while argv[at] do
    local count = tonumber(argv[at])
    if not count or count % 1 ~= 0 or count < 1 or at + count > #argv then
      error('Guard(): wrong number of words: ' .. argv[at])
    end
    local job = put_args(argv, at + 1, count)
    job.entry = job.note and need('history/note')(seconds, job.note) or nil
    jobs[#jobs + 1] = job
    if #jobs > 500 then error('Guard(): more than 500 jobs') end
    links = links + (job.tags and #job.tags or 0) + (job.depends and #job.depends or 0)
    if links > 50000 then error('Guard(): "tags" and "depends" of all jobs have more than 50000 names') end
    at = at + count + 1
  end

  -- Begin a dry run before `need` builds the functions below, so that they use its replacement of `redis`.
  if policy.dry then need('dry_run/begin')() end
  local set_maxima = policy.maxima and need('throttle/maxima')(now, policy.maxima, policy.by)
  local reply, progress = {}, {}
  local key_fault = need('value/key_fault')(progress)
  local queue_of, put_new, flush = need('job/put_new')(now, t, seconds, key_fault, progress)
  -- Usually all jobs are new, which one EXISTS shows. A key counts as existing if the user has no right to read it.
  local keys, seen, put, puts, defaults = {}, {}, nil, false, need('option/of_queues')(jobs)
  for i = 1, #jobs do
    local key = Keys.job .. jobs[i].jid
    keys[2 * i - 1], keys[2 * i] = key, key .. Keys.dependencies
  end
  local none_exists = keys[1] and redis.pcall('exists', unpack(keys)) == 0
  for i = 1, #jobs do
    local job = jobs[i]
    local jid, queue = job.jid, queue_of(job.queue)
    local state, bad
    if job.plain and not defaults[job.queue] and not job.invalid and not queue.bad and not seen[jid]
      and (none_exists or redis.pcall('exists', keys[2 * i - 1], keys[2 * i]) == 0) then
      state, bad = put_new(queue, job)
    end
    if state then
      progress.wrote = true
      reply[i] = policy.lanes and {'done', '', state, jid, ''} or {'done', '', state}
    elseif bad then
      reply[i] = {'invalid', '', bad}
    else
      if seen[jid] then flush() end
      put = put or need('job/put_guarded')(now, t, seconds, policy,
        {key_fault = key_fault, progress = progress, defaults = defaults})
      reply[i] = put(job)
      state = reply[i][1] == 'done' and reply[i][3]
    end
    puts = puts or state and state ~= 'skipped'
    seen[jid] = true
  end
  flush()
  if puts and set_maxima then set_maxima() end
  return reply
end
