-- timeout: jid ...
-- Takes jobs away from their holders; each is next in its queue. Refuses all if one does not run.
-- Events per job: `lock_lost` to the holder and to the log.
return function(argv, _, _, seconds)
  local call = redis.call
  local jobs = {}
  for i = 3, #argv do
    local jid = argv[i]
    local job = call('hmget', Keys.job .. jid, 'state', 'queue', 'worker', 'history', 'grace')
    if not job[1] and not job[2] then error('Timeout(): Job ' .. jid .. ' does not exist') end
    if job[1] ~= 'running' or jobs[jid] then error('Timeout(): Job ' .. jid .. ' not running') end
    jobs[jid] = job
  end
  local entry, limit, lock_lost = '[' .. seconds .. ',"timed-out"]', nil, need('job/lock_lost')
  for i = 3, #argv do
    local jid, job = argv[i], jobs[argv[i]]
    local key, queue, worker = Keys.job .. jid, job[2] or '', job[3] or ''
    if job[4] then need('history/migrate')(jid, job[4]) end
    local length = call('rpush', key .. Keys.history, entry)
    -- Three entries are the least a job has here: the setting is not asked for that (README).
    if length > 3 then
      limit = limit or tonumber(redis.pcall('hget', Keys.config, 'max-job-history') or 100) or 100
      if length > limit then need('history/trim')(key .. Keys.history, length, limit) end
    end
    call('zrem', Keys.queue .. queue .. Keys.locks, jid)
    call('zadd', Keys.queue .. queue .. Keys.work, '+inf', jid)
    call('hmset', key, 'state', 'stalled', 'expires', '0')
    if job[5] then call('hdel', key, 'grace') end
    call('zrem', Keys.worker .. worker .. Keys.held, jid)
    lock_lost(jid, worker)
  end
end
