-- Grants the job with a given jid to a worker, if a pop of its queue could: the job waits there, the queue is not
-- paused, and no lane, throttle or limit holds the job. Otherwise changes nothing.
-- Takes: queue jid worker
-- Result: the job in a JSON array; `[{}]` if it is not granted
-- Refuses: missing words
-- Publishes: as pop
local Job = Fields('job/read')

-- Whether a pop may grant a waiting job: the job is the first of its lane, and each of its throttles has a free slot
-- for it. Writes nothing.
-- Takes: now; queue; jid; the reply of job/read; the stored `<queue>-defaults`, or false
local function may_grant(now, queue, jid, job, defaults)
  local parsed = defaults and need('option/defaults')(defaults)
  local lane = job[Job.throttles] and redis.call('hget', Keys.job .. jid, 'key')
  if lane and not need('lane/is_first')(lane, jid) then return false end
  local ids, maxima = need('option/throttles_at_pop')(parsed, queue, job)
  ids = ids or need('job/tags')(job[Job.throttles])
  return not ids[1] or need('throttle/would_run')(now, queue, maxima)(jid, ids)
end

local none = '[{}]'

return function(argv, now, t, seconds)
  local call = redis.call
  local queue, jid, worker = argv[3], argv[4], argv[5]
  if not queue then error('Queue(): no queue name provided') end
  if not jid then error('Pop(): Arg "jid" missing') end
  if not worker then error('Pop(): Arg "worker" missing') end
  local base = Keys.queue .. queue
  if call('sismember', Keys.paused, queue) == 1 and need('queue/paused')(now, queue, true) then return none end
  local job = need('job/read')(jid)
  local state, due = job[Job.state], nil
  if not job[Job.jid] or job[Job.queue] ~= queue then return none end
  if not call('zscore', base .. Keys.work, jid) then
    due = tonumber(call('zscore', base .. Keys.scheduled, jid) or nil)
    if not due or due < 0 or due > now then return none end
  end
  if state ~= 'waiting' and state ~= (due and 'scheduled' or 'stalled') then return none end

  local known = redis.pcall('hmget', Keys.config, queue .. '-heartbeat', 'heartbeat', queue .. '-max-concurrency',
    'grace-period', 'max-job-history', queue .. '-defaults')
  local limit = need('value/number')(known[3])
  if limit and limit >= 1 and call('zcount', base .. Keys.locks, t, '+inf') >= math.floor(limit) then return none end
  if not may_grant(now, queue, jid, job, known[6]) then return none end
  if due then need('queue/promote')(now, queue, {jid}) end
  known.only = jid
  local reply = need('pop', true)({'pop', t, queue, worker, '1'}, now, t, seconds, known)
  return reply == '{}' and none or reply
end
