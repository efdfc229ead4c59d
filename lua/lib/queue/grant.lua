-- Grants jobs to a worker: the last step of a pop.
-- Takes: now; seconds; queue; the setting `max-job-history`; a table of what the pop has found: `jids`, `jobs`
--   (replies of job/read), `count` (their number), `taken` (how many had an expired lock), `remove` (other jids to
--   remove from the work set), `worker`, and `ends` (the end of the locks). The last two become text for job/render
-- Result: the granted jobs as a JSON array; their number
-- Publishes: the jid to `popped` if tracked
local Job = Fields('job/read')
local Ext = Fields('job/extension')

-- Writes the fields of a job that a pop grants, with a fencing token: a number that is larger in each later grant.
-- Takes: key; the reply of job/read, whose `ext` (job/extension) gets the token; the time of the grant; worker; end of
--   the lock
local function grant_with_fence(key, job, stamp, worker, expires)
  local fence, ext = redis.pcall('incr', Keys.fence), job.ext
  -- If the counter is not a number, grant the job without a token: a wrong counter must not stop jobs.
  if type(fence) == 'number' then ext[Ext.fence] = string.format('%.0f', fence) end
  redis.call('hmset', key, 'time', stamp, 'worker', worker, 'expires', expires, 'state', 'running',
    'remaining', job[Job.remaining] or '0', 'fence', ext[Ext.fence] or '0')
end

return function(now, seconds, queue, limit, found)
  local jids, jobs, count, taken, remove = found.jids, found.jobs, found.count, found.taken, found.remove
  local worker, ends = found.worker, found.ends
  local call, base, expires = redis.call, Keys.queue .. queue, string.format('%.17g', ends)
  local stamp = string.format('%.20f', now)
  local quoted = cjson.encode(worker)
  local entry = '[' .. seconds .. ',"popped",{"worker":' .. quoted .. '}]'
  local waited, held = {}, {}
  -- For a single job, one EXISTS tests for tracked jobs and for the job's dependencies and dependents.
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
    -- Grant only a job whose history is a list. Any other job stays where it is, for the operator to inspect.
    if type(length) == 'number' then
      if length > limit then need('history/trim')(key .. Keys.history, length, limit) end
      if job.fenced then
        grant_with_fence(key, job, stamp, worker, expires)
        if i > taken then remove[#remove + 1] = jid end
      elseif i <= taken then
        call('hmset', key, 'time', stamp, 'worker', worker, 'expires', expires, 'state', 'running',
          'remaining', job[Job.remaining])
      else
        call('hmset', key, 'time', stamp, 'worker', worker, 'expires', expires, 'state', 'running')
        remove[#remove + 1] = jid
      end
      if job[Job.queue] ~= queue then call('hset', key, 'queue', queue) end
      if job[Job.grace] then call('hdel', key, 'grace') end
      if tracked and tracked[jid] then call('publish', Keys.on_popped, jid) end
      job[Job.state], job[Job.queue] = 'running', queue
      given = given + 1
      local time = tonumber(job[Job.time] or nil)
      waited[given] = time and time - time == 0 and now - time or 0
      held[given], jids[given], jobs[given] = jid, jid, job
    elseif job[Job.throttles] then
      need('throttle/leave')(jid, 'running', queue, job[Job.throttles])
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
    local in_chunks, locks = need('value/in_chunks'), {}
    -- Add the entries in descending order of names. All have one score, so Redis inserts each at the beginning,
    -- which is fast in a small sorted set.
    table.sort(held)
    for i = 1, count do
      local jid = held[count + 1 - i]
      locks[2 * i - 1], locks[2 * i] = expires, jid
    end
    in_chunks('zadd', Keys.worker .. worker .. Keys.held, locks, 1, 2 * count)
    in_chunks('zadd', base .. Keys.locks, locks, 1, 2 * count)
    in_chunks('zrem', base .. Keys.work, remove, 1, #remove)
  end
  found.worker, found.ends = quoted, '' .. ends
  return need('job/render_all')(jids, jobs, count, tracked, related, found), count
end
