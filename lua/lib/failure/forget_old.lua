-- Notes when jobs failed, and deletes jobs that failed too long ago, as `cancel` does. A job is deleted only if it has
-- been failed since its noted time and no job depends on it: other scripts leave notes about jobs that wait or run.
-- The deleted jobs may be the ones that have just failed, so the caller writes everything about their failure before.
-- Takes: now; t; jids that failed; how many seconds failed jobs are kept
-- Publishes: as job/delete
local Job = Fields('state', 'failure', 'queue', 'worker', 'tags')

local call, pcall_redis = redis.call, redis.pcall

-- The maximum number of entries that one call reads, and of jobs that it deletes. The next call continues.
local max_read, max_deleted = 200, 100

-- The maximum number of kept jobs that each call reads again. If there are more, they are read again after a minute.
local max_kept = 10

-- The maximum number of dependents of a job that are read. If there are more, one of them is assumed to exist.
local max_dependents = 20

-- Whether a job that exists names this job as its dependency.
local function has_dependents(jid)
  local key = Keys.job .. jid .. Keys.dependents
  local count = pcall_redis('scard', key)
  if count == 0 then return false end
  if type(count) ~= 'number' or count > max_dependents then return true end
  local names = call('smembers', key)
  for i = 1, #names do
    local other = Keys.job .. names[i]
    local edge = call('exists', other) == 1 and pcall_redis('sismember', other .. Keys.dependencies, jid)
    if edge == 1 then return true end
  end
  return false
end

-- Whether all keys that the deletion changes have the right types. A wrong type would stop the deletion half-way.
local function is_sound(key_fault, jid, job)
  local fault = need('job/key_fault')(key_fault, jid, {state = job[Job.state], queue = job[Job.queue],
    worker = job[Job.worker], tags = job[Job.tags], failure = job[Job.failure]})
  return not fault and not need('dependency/key_fault')(key_fault, jid)
end

return function(now, t, jids, age)
  local in_chunks, times, entries = need('value/in_chunks'), Keys.failed_times, {}
  for i = 1, #jids do entries[2 * i - 1], entries[2 * i] = t, jids[i] end
  in_chunks('zadd', times, entries, 1, #entries)
  local last = now - age
  local page = call('zrangebyscore', times, '-inf', string.format('%.17g', last), 'LIMIT', 0, max_read)
  if not page[1] then return end
  local old, kept, drop = {}, {}, {}
  local number, decode, key_fault = need('value/number'), need('failure/decode'), need('value/key_fault')()
  for i = 1, #page do
    local jid = page[i]
    if #old == max_deleted then break end
    local job = pcall_redis('hmget', Keys.job .. jid, unpack(Job))
    local when = number(decode(job[Job.failure]).when)
    if job[Job.state] ~= 'failed' then
      drop[#drop + 1] = jid
    elseif when and when > last then
      -- The job has failed again since, under a script that does not note the time: note the time of that failure.
      call('zadd', times, string.format('%.17g', when), jid)
    elseif not when or has_dependents(jid) or not is_sound(key_fault, jid, job) then
      kept[#kept + 1] = jid
    else
      old[#old + 1] = jid
    end
  end
  if drop[1] then in_chunks('zrem', times, drop, 1, #drop) end
  if old[1] then
    local related = need('dependency/any_related')(old, 1, #old)
    need('job/delete')(now, old, related, call('exists', Keys.tracked) == 1)
  end
  if #kept > max_kept then
    local later = string.format('%.17g', last + 60)
    for i = 1, #kept do call('zadd', times, later, kept[i]) end
  end
end
