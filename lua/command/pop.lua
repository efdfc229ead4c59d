-- Grants jobs to a worker: first jobs whose lock expired, then waiting jobs, highest priority first.
-- Takes: queue worker count
-- Result: the jobs as a JSON array (`{}` if there are none), at most 10000; for a caller in Lua, also their number
-- Refuses: a count that is not an integer
-- Publishes: the jid to `popped` if tracked; and what queue/expire_locks and queue/admit publish
local Job = Fields('job/read')

-- Releases up to 5000 dependents of completed jobs that had too many dependents for one call. An error at one dependent
-- stops neither the release of the others nor the pop.
-- Takes: now
local function release_rest(now)
  local rest = redis.pcall('lrange', Keys.releasing, 0, 9999)
  if not rest[1] then return end
  local release = need('dependency/release_dependent')
  for i = 1, #rest, 2 do pcall(release, now, rest[i], rest[i + 1]) end
  redis.call('ltrim', Keys.releasing, #rest, -1)
end

-- `known`: nil, or the settings as the caller has read them. Its field `listed` says whether the worker is listed;
-- `only` is the only job that may be granted, which is waiting; `budget` (queue/call_budget) limits what the call
-- brings to work. The pop sets `unfinished` in that budget if a search ended at its limit: the next pop continues.
return function(argv, now, t, seconds, known)
  local call = redis.call
  local queue, worker, count = argv[3], argv[4], tonumber(argv[5])
  if not queue then error('Queue(): no queue name provided') end
  if not worker then error('Pop(): Arg "worker" missing') end
  if not count or count - count ~= 0 then
    error('Pop(): Arg "count" missing or not a number: ' .. tostring(argv[5]))
  end
  -- Refuse a count that is not an integer. A pop of a paused queue grants nothing and refuses no such count.
  local not_integer = count % 1 ~= 0 or count > 9e15 or count < -9e15
  if call('sismember', Keys.paused, queue) == 1 and need('queue/paused')(now, queue, not_integer) then return '{}' end
  if not_integer then need('value/integer')(count) end

  if not (known and known.listed) then call('zadd', Keys.workers, t, worker) end
  if known then known.listed = true end
  local config = known or redis.pcall('hmget', Keys.config, queue .. '-heartbeat', 'heartbeat',
    queue .. '-max-concurrency', 'grace-period', 'max-job-history', queue .. '-defaults')
  local own_heartbeat, heartbeat, concurrency = config[1], config[2], config[3]
  local grace, max_history, defaults = config[4], config[5], config[6]
  local base, number = Keys.queue .. queue, need('value/number')
  local max, free = number(concurrency), nil
  if max and max >= 1 then
    free = math.max(0, math.floor(max) - call('zcount', base .. Keys.locks, t, '+inf'))
    count = math.min(count, free)
  end
  if count == 0 then return '{}' end
  local budget = known and known.budget
  if count < 0 or count > 10000 then count = need('queue/clamp_count')(t, queue, count) end

  local limit = tonumber(max_history or 100) or 100
  local jids, jobs, regranted, wanted = {}, {}, 0, count
  -- The decider (queue/decider) finds out whether a job with a lane or throttles may run. Most pops need none.
  local decider
  local only = known and known.only
  local max_lost = budget and budget.lost or 5000
  if count >= 0 and count < max_lost then max_lost = count end
  local lost = only and {} or call('zrangebyscore', base .. Keys.locks, '-inf', t, 'LIMIT', 0, max_lost)
  if lost[1] then
    budget = budget or need('queue/call_budget')()
    budget.lost = budget.lost - #lost
    jids, jobs = need('queue/expire_locks')(now, t, seconds, queue, lost, {grace = number(grace) or 10, limit = limit})
    for i = #jids, 1, -1 do
      if defaults or jobs[i][Job.throttles] then
        decider = decider or need('queue/decider')(now, t, seconds, queue, {defaults, limit, budget})
        decider.judge_lost(jids, jobs, i)
      end
    end
    regranted = #jids
    -- Count an expired lock as two jobs of the 10000 that a pop may handle: it costs about as much as two waiting jobs.
    wanted = math.min(count - regranted, 10000 - 2 * #lost)
    -- Count the running jobs again for `max-concurrency`: expire_locks has extended some expired locks by the grace
    -- period, and their jobs count again.
    if free then
      local held = call('zcount', base .. Keys.locks, '(' .. t, '+inf') + regranted
      wanted = math.min(wanted, math.max(0, math.floor(max) - held))
    end
  end
  -- One EXISTS recognizes the usual case: the queue has no recurring, scheduled or held job, and no release is pending.
  -- It counts a key once for each time that it is named, so a result of four or more means a pending release.
  local present = wanted ~= 0 and not only and call('exists', base .. Keys.recur, base .. Keys.scheduled,
    base .. Keys.throttled, Keys.releasing, Keys.releasing, Keys.releasing, Keys.releasing) or 0
  if present > 3 then release_rest(now) end
  local may_bring = present % 4 > 0
  if may_bring then budget = budget or need('queue/call_budget')() end
  local due = may_bring and need('queue/due')(now, t, queue, wanted, budget)

  -- Take jobs from the work set. For each entry whose job cannot be taken, try a later one, up to 1000 more entries.
  local read = need('job/read')
  local page_size, from, remove, total = wanted, 0, {}, regranted
  -- The first job with a lane or throttles, at which this loop ends and the decider begins; nil if there is none.
  local start
  while page_size ~= 0 and (from == 0 or from <= wanted + 1000) do
    local page = only and {only} or call('zrevrange', base .. Keys.work, from, from + page_size - 1)
    if not page[1] then break end
    local missed = 0
    for i = 1, #page do
      local jid = page[i]
      local job = read(jid)
      local what = job[Job.state] == 'waiting' and job[Job.queue] == queue and job[Job.jid] and 'take'
        or need('queue/pop_decision')(queue, t, jid, job)
      if what == 'take' and (defaults or job[Job.throttles]) then
        start = {page = page, at = i, job = job}
        break
      end
      if what == 'take' then
        total = total + 1
        jids[total], jobs[total] = jid, job
      else
        missed = missed + 1
      end
      if what == 'drop' then remove[#remove + 1] = jid end
    end
    if start then break end
    from = from + #page
    page_size = page_size > 0 and not only and missed or 0
  end
  if budget and remove[1] and not start and page_size ~= 0 and from > wanted + 1000 then budget.unfinished = true end
  if start or may_bring and wanted > total - regranted then
    decider = decider or need('queue/decider')(now, t, seconds, queue, {defaults, limit, budget})
    decider.single = only
    local found = {jids = jids, jobs = jobs, count = total, taken = regranted}
    start = start or {page = {}, at = 1}
    start.from, start.held, start.due = from, may_bring, due
    total = decider.scan(wanted, found, start)
  end
  if total == 0 then
    if remove[1] then need('value/in_chunks')('zrem', base .. Keys.work, remove, 1, #remove) end
    if decider then decider.wake() end
    return '{}'
  end

  local ends = now + (number(own_heartbeat) or number(heartbeat) or 60)
  local found = {jids = jids, jobs = jobs, count = total, taken = regranted, remove = remove, worker = worker,
    ends = ends}
  local reply, given = need('queue/grant')(now, seconds, queue, limit, found)
  if seconds % 10 == 0 and (may_bring or wanted == 0 and call('exists', base .. Keys.throttled) == 1) then
    decider = decider or need('queue/decider')(now, t, seconds, queue, {defaults, limit, budget})
    decider.recheck()
  end
  if decider then decider.wake() end
  return reply, given
end
