-- Returns what a pop of a queue meets: the limit of running jobs, who pops, entries without a job, the oldest
-- wait, a held job that may run, and how many jobs are ahead of one. The cost does not depend on the number of jobs.
-- Writes nothing.
-- Takes: queue [jid]
-- Returns: name, value, ...
-- Refuses: a missing queue
return function(argv, now, t)
  local call, pcall = redis.call, redis.pcall
  local queue, jid = argv[3], argv[4]
  if not queue then error('Look(): queue missing') end
  local base, reply = Keys.queue .. queue, {}
  local work, locks = base .. Keys.work, base .. Keys.locks
  local function add(name, value)
    if value then reply[#reply + 1], reply[#reply + 2] = name, '' .. value end
  end

  local limit = need('value/number')(pcall('hget', Keys.config, queue .. '-max-concurrency'))
  if limit and limit >= 1 then add('limit', math.floor(limit)) end
  add('held', call('zcount', locks, t, '+inf'))
  add('late', call('zcount', base .. Keys.recur, 0, t))

  -- The newest lock says when a job was popped last, and by whom.
  local newest = call('zrevrange', locks, 0, 0)[1]
  local job = newest and pcall('hmget', Keys.job .. newest, 'time', 'worker') or {}
  add('popped', job[1])
  add('holder', job[2])
  local seen = call('zrevrange', Keys.workers, 0, 0, 'WITHSCORES')
  add('worker', seen[1])
  add('seen', seen[2])
  local today = now - now % 86400
  for back = 0, 7 do
    local day = today - back * 86400
    local pops = pcall('hget', Keys.wait .. day .. ':' .. queue, 'total')
    if type(pops) == 'string' then
      add('pops', pops)
      add('day', day)
      break
    end
  end

  -- The score of a waiting job is its priority less a part of 1: the time when it was queued.
  local head = call('zrevrange', work, 0, 0, 'WITHSCORES')
  local priority = head[1] and need('value/number')(pcall('hget', Keys.job .. head[1], 'priority'))
  local queued = priority and (priority - tonumber(head[2])) * 10000000000
  if queued and queued > 0 and queued <= now then add('queued', string.format('%.17g', queued)) end
  add('due', call('zrangebyscore', base .. Keys.scheduled, '(' .. t, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)[2])

  -- Any of the entries that a pop of the reference would read stops it if the job does not exist.
  local function ghost(members)
    local keys = {}
    for i = 1, #members do keys[i] = Keys.job .. members[i] end
    if not keys[1] or call('exists', unpack(keys)) == #keys then return end
    for i = 1, #keys do
      if call('exists', keys[i]) == 0 then return members[i] end
    end
  end
  add('ghost', ghost(call('zrangebyscore', locks, '-inf', t, 'LIMIT', 0, 20))
    or ghost(call('zrevrange', work, 0, 19)))

  if call('exists', base .. Keys.throttled) == 1 then add('next_held', need('throttle/next_held')(now, queue)) end

  local since, oldest = need('queue/oldest')(now, t, queue)
  add('oldest', since)
  add('oldest_jid', oldest)

  local score = jid and call('zscore', work, jid)
  if score then
    local ahead = call('zcount', work, '(' .. score, '+inf')
    -- Jobs that were put in one call have the same score.
    local alike = call('zrevrangebyscore', work, score, score, 'LIMIT', 0, 500)
    for i = 1, #alike do
      if alike[i] == jid then break end
      ahead = ahead + 1
    end
    add('listed', 1)
    add('ahead', ahead)
  end
  return reply
end
