-- Grants one named job to a worker, if a pop of its queue could: it waits there, the queue is not paused, and no lane,
-- throttle or limit holds it. Else it changes nothing.
-- Takes: queue jid worker
-- Returns: the job in a JSON array; `[{}]` if it is not granted
-- Refuses: missing words
-- Publishes: as pop
local Job = Fields('job/read')

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
  if not need('queue/may_grant')(now, queue, jid, job, known[6]) then return none end
  if due then need('queue/promote')(now, queue, {jid}) end
  known.only = jid
  local reply = need('pop', true)({'pop', t, queue, worker, '1'}, now, t, seconds, known)
  return reply == '{}' and none or reply
end
