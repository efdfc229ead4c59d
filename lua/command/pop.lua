-- Grants jobs to a worker: first jobs whose lock expired, then waiting jobs, highest priority first.
-- Takes: queue worker count
-- Returns: the jobs as a JSON array (`{}` if there are none); for a caller in Lua, also their number
-- Refuses: a count that is not an integer
-- Publishes: the jid to `popped` if tracked; and what queue/expire_locks publishes
local Job = Fields('job/read')

-- Returns a stored setting as a number, nil if it is not one.
local function setting(text)
  local n = text and tonumber(text)
  if n and n - n == 0 then return n end
end

-- `known`: the settings, and in `listed` whether the worker is listed, if the caller knows.
return function(argv, now, t, seconds, known)
  local call = redis.call
  local queue, worker, count = argv[3], argv[4], tonumber(argv[5])
  if not queue then error('Queue(): no queue name provided') end
  if not worker then error('Pop(): Arg "worker" missing') end
  if not count or count - count ~= 0 then
    error('Pop(): Arg "count" missing or not a number: ' .. tostring(argv[5]))
  end
  -- A count that is not an integer is refused, but not while the queue is paused.
  local odd = count % 1 ~= 0 or count > 9e15 or count < -9e15
  if call('sismember', Keys.paused, queue) == 1 and need('queue/paused')(now, queue, odd) then return '{}' end
  if odd then need('value/integer')(count) end

  if not (known and known.listed) then call('zadd', Keys.workers, t, worker) end
  if known then known.listed = true end
  local config = known or redis.pcall('hmget', Keys.config, queue .. '-heartbeat', 'heartbeat',
    queue .. '-max-concurrency', 'grace-period', 'max-job-history')
  local own_heartbeat, heartbeat, concurrency = config[1], config[2], config[3]
  local grace, max_history = config[4], config[5]
  local base = Keys.queue .. queue
  local max, free = setting(concurrency), nil
  if max and max >= 1 then
    free = math.max(0, math.floor(max) - call('zcount', base .. Keys.locks, t, '+inf'))
    count = math.min(count, free)
  end
  if count == 0 then return '{}' end

  local limit = tonumber(max_history or 100) or 100
  local jids, jobs, taken, rest = {}, {}, 0, count
  local lost = call('zrangebyscore', base .. Keys.locks, '-inf', t, 'LIMIT', 0, count)
  if lost[1] then
    jids, jobs = need('queue/expire_locks')(now, seconds, queue, lost, setting(grace) or 10, limit)
    taken = #jids
    rest = count - taken
    -- A renewed lock takes a place within the limit again.
    if free then
      local held = call('zcount', base .. Keys.locks, '(' .. t, '+inf') + taken
      rest = math.min(rest, math.max(0, math.floor(max) - held))
    end
  end
  if rest > 0 then
    local due = call('zrangebyscore', base .. Keys.recur, 0, t, 'WITHSCORES', 'LIMIT', 0, rest)
    if due[1] then need('recurring/spawn')(now, t, queue, due, rest) end
  end
  if rest ~= 0 then
    local due = call('zrangebyscore', base .. Keys.scheduled, 0, t, 'LIMIT', 0, rest)
    if due[1] then need('queue/promote')(now, queue, due) end
  end

  -- A job that cannot be taken is replaced by the next in the set, over up to 1000 further entries.
  local read = need('job/read')
  local want, from, remove, count = rest, 0, {}, taken
  while want ~= 0 and (from == 0 or from <= rest + 1000) do
    local page = call('zrevrange', base .. Keys.work, from, from + want - 1)
    if not page[1] then break end
    local missed = 0
    for i = 1, #page do
      local jid = page[i]
      local job = read(jid)
      local what = job[Job.state] == 'waiting' and job[Job.queue] == queue and job[Job.jid] and 'take'
        or need('queue/pop_decision')(queue, t, jid, job)
      if what == 'take' then
        count = count + 1
        jids[count], jobs[count] = jid, job
      else
        missed = missed + 1
      end
      if what == 'drop' then remove[#remove + 1] = jid end
    end
    from = from + #page
    want = want > 0 and missed or 0
  end
  if count == 0 then
    if remove[1] then need('value/in_chunks')('zrem', base .. Keys.work, remove, 1, #remove) end
    return '{}'
  end

  local expires = string.format('%.17g', now + (setting(own_heartbeat) or setting(heartbeat) or 60))
  local stamp = string.format('%.20f', now)
  local entry = '[' .. seconds .. ',"popped",{"worker":' .. cjson.encode(worker) .. '}]'
  local waited, locks = {}, {}
  -- For one job, the same command covers its dependencies and dependents.
  local related
  local key = Keys.job .. jids[1]
  if count == 1 then related = call('exists', key .. Keys.dependents, key .. Keys.dependencies, Keys.tracked) > 0 end
  local tracked = (count == 1 and related or count > 1) and need('job/tracked')(jids, count)
  local given = 0
  for i = 1, count do
    local jid, job = jids[i], jobs[i]
    key = Keys.job .. jid
    if job[Job.history] then
      need('history/migrate')(jid, job[Job.history])
      job[Job.history] = false
    end
    local length = redis.pcall('rpush', key .. Keys.history, entry)
    -- A job whose history is not a list stays in place, for the operator to inspect.
    if type(length) == 'number' then
      if length > limit then need('history/trim')(key .. Keys.history, length, limit) end
      if i <= taken then
        call('hmset', key, 'time', stamp, 'worker', worker, 'expires', expires, 'state', 'running',
          'remaining', job[Job.remaining])
      else
        call('hmset', key, 'time', stamp, 'worker', worker, 'expires', expires, 'state', 'running')
        remove[#remove + 1] = jid
      end
      if job[Job.queue] ~= queue then call('hset', key, 'queue', queue) end
      if job[Job.grace] then call('hdel', key, 'grace') end
      if tracked and tracked[jid] then call('publish', Keys.on_popped, jid) end
      job[Job.state], job[Job.queue], job[Job.worker], job[Job.expires] = 'running', queue, worker, expires
      given = given + 1
      waited[given] = now - (setting(job[Job.time]) or now)
      locks[2 * given - 1], locks[2 * given] = expires, jid
      jids[given], jobs[given] = jid, job
    end
  end
  count = given
  if count > 0 then need('stats/add_values')(Keys.wait .. now - now % 86400 .. ':' .. queue, waited) end
  if count == 1 then
    call('zadd', Keys.worker .. worker .. Keys.held, expires, jids[1])
    call('zadd', base .. Keys.locks, expires, jids[1])
    if remove[2] then
      need('value/in_chunks')('zrem', base .. Keys.work, remove, 1, #remove)
    elseif remove[1] then
      call('zrem', base .. Keys.work, remove[1])
    end
  else
    local in_chunks = need('value/in_chunks')
    in_chunks('zadd', Keys.worker .. worker .. Keys.held, locks, 1, 2 * count)
    in_chunks('zadd', base .. Keys.locks, locks, 1, 2 * count)
    in_chunks('zrem', base .. Keys.work, remove, 1, #remove)
  end
  return need('job/render_all')(jids, jobs, count, tracked, related), count
end
