-- Revokes the locks of jobs. The jobs become stalled, and the next pops of their queues get them first.
-- Takes: jid ...
-- Refuses: all, if one does not exist or is not running; more than 10000 jids
-- Publishes: `lock_lost` to the holder and to the log, for each job
local Job = Fields('state', 'queue', 'worker', 'history', 'grace', 'throttles')

return function(argv, now, t, seconds)
  local call = redis.call
  if argv[10003] then error('Timeout(): more than 10000 jids') end
  local jobs = {}
  for i = 3, #argv do
    local jid = argv[i]
    local job = call('hmget', Keys.job .. jid, unpack(Job))
    if not job[Job.state] and not job[Job.queue] then error('Timeout(): Job ' .. jid .. ' does not exist') end
    if job[Job.state] ~= 'running' or jobs[jid] then error('Timeout(): Job ' .. jid .. ' not running') end
    jobs[jid] = job
  end
  local entry, limit, lock_lost = '[' .. seconds .. ',"timed-out"]', nil, need('job/lock_lost')
  for i = 3, #argv do
    local jid, job = argv[i], jobs[argv[i]]
    local key, queue, worker = Keys.job .. jid, job[Job.queue] or '', job[Job.worker] or ''
    if job[Job.history] then need('history/migrate')(jid, job[Job.history]) end
    local length = call('rpush', key .. Keys.history, entry)
    -- A job has at least three entries here: read the setting only if it has more (README, D-68).
    if length > 3 then
      limit = limit or need('history/limit')()
      if length > limit then need('history/trim')(key .. Keys.history, length, limit) end
    end
    if call('zrem', Keys.queue .. queue .. Keys.locks, jid) == 0 then
      need('queue/remove_from_state_set')(jid, 'running', queue)
    end
    call('zadd', Keys.queue .. queue .. Keys.work, '+inf', jid)
    call('hmset', key, 'state', 'stalled', 'expires', '0')
    if job[Job.grace] then call('hdel', key, 'grace') end
    call('zrem', Keys.worker .. worker .. Keys.held, jid)
    lock_lost(jid, worker)
    if job[Job.throttles] then
      need('ending/extended')(now, t, seconds, 'timeout', {jid = jid, queue = queue, throttles = job[Job.throttles]})
    end
  end
end
