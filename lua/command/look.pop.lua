-- Shows by a dry run which job a pop of a queue would get now, and why others wait: throttles that hold jobs, the limit
-- of running jobs, the last worker, an entry without a job, the oldest wait. For a given job, shows how many are ahead,
-- which throttles have no slot for it, and whether its lane holds it. Costs a few pops. Writes nothing.
-- Takes: queue [jid]
-- Result: name, value, ...
-- Refuses: a missing queue, what pop refuses

-- Estimates how many jobs of a queue were completed per minute in the last five minutes: by the share of the queue
-- among the newest 50 complete jobs.
-- Takes: now; queue
-- Result: the number as text; nil if fewer than five of them are of the queue
local function completed_per_minute(now, queue)
  local last_queue, matching = need('history/last_queue'), 0
  local all, seconds = need('stats/recent')(now)
  if not all then return nil end
  local since = string.format('%.17g', now - seconds)
  local newest = redis.call('zrevrangebyscore', Keys.completed, '+inf', since, 'LIMIT', 0, 50)
  for i = 1, #newest do
    if last_queue(newest[i]) == queue then matching = matching + 1 end
  end
  return matching >= 5 and string.format('%.2f', all * matching / #newest * 60 / seconds) or nil
end

-- Adds the fields of jobs (job/holder) to a row, from the job at index `first` on. Writes nothing.
local function add_holders(now, row, jids, first)
  local describe = need('job/holder')
  for i = first, #jids do
    for _, word in ipairs(describe(now, jids[i])) do row[#row + 1] = word end
  end
  return row
end

return function(argv, now, t, seconds)
  local call, pcall = redis.call, redis.pcall
  local queue, jid = argv[3], argv[4]
  if not queue then error('Look(): queue missing') end
  local base, reply = Keys.queue .. queue, {}
  local work, locks = base .. Keys.work, base .. Keys.locks
  local function add(name, value)
    if value then reply[#reply + 1], reply[#reply + 2] = name, '' .. value end
  end

  reply[1], reply[2] = 'queue', need('look.queues', true)({'look.queues', t, queue}, now, t)[1]
  local limit = need('value/number')(pcall('hget', Keys.config, queue .. '-max-concurrency'))
  if limit and limit >= 1 then add('limit', math.floor(limit)) end
  add('held', call('zcount', locks, t, '+inf'))
  if limit and limit >= 1 then
    local holders = call('zrangebyscore', locks, t, '+inf', 'LIMIT', 0, 10)
    if holders[1] then reply[#reply + 1], reply[#reply + 2] = 'holders', add_holders(now, {}, holders, 1) end
  end
  local runs_on = jid and pcall('hget', Keys.job .. jid, 'worker')
  if type(runs_on) == 'string' then add('worker_seen', call('zscore', Keys.workers, runs_on)) end
  add('late', call('zcount', base .. Keys.recur, 0, t))

  -- The job with the newest lock shows when a job was popped last, and by which worker.
  local newest = call('zrevrange', locks, 0, 0)[1]
  local job = newest and pcall('hmget', Keys.job .. newest, 'time', 'worker') or {}
  add('popped', job[1])
  add('holder', job[2])
  local seen = call('zrevrange', Keys.workers, 0, 0, 'WITHSCORES')
  add('worker', seen[1])
  add('seen', seen[2])
  add('due', call('zrangebyscore', base .. Keys.scheduled, '(' .. t, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)[2])

  -- The first of the entries that a pop reads whose job does not exist. Such an entry would stop a pop of qless-core.
  local function first_missing(members)
    local keys = {}
    for i = 1, #members do keys[i] = Keys.job .. members[i] end
    if not keys[1] or call('exists', unpack(keys)) == #keys then return end
    for i = 1, #keys do
      if call('exists', keys[i]) == 0 then return members[i] end
    end
  end
  add('ghost', first_missing(call('zrangebyscore', locks, '-inf', t, 'LIMIT', 0, 20))
    or first_missing(call('zrevrange', work, 0, 19)))

  local since, oldest = need('queue/oldest')(now, t, queue)
  add('oldest', since)
  add('oldest_jid', oldest)

  local score = jid and call('zscore', work, jid)
  if score then
    local ahead = call('zcount', work, '(' .. score, '+inf')
    -- Jobs that were put in one call have one score and are sorted by name: also count the ones before this job.
    local alike = call('zrevrangebyscore', work, score, score, 'LIMIT', 0, 500)
    for i = 1, #alike do
      if alike[i] == jid then break end
      ahead = ahead + 1
    end
    add('listed', 1)
    add('ahead', ahead)
    if ahead > 0 then add('pace', completed_per_minute(now, queue)) end
  end

  local arrival_of = need('queue/arrival')
  -- The pop below writes, so run the pop and all that follows as a dry run.
  need('dry_run/begin')()
  local popped = need('pop', true)({'pop', t, queue, '', '1'}, now, t, seconds)
  local given = cjson.decode(popped)[1]
  if given then
    add('next', given.jid)
    local place = tonumber(call('zscore', work, given.jid) or nil)
    local due = call('zscore', base .. Keys.scheduled, given.jid) or call('zscore', locks, given.jid)
    local ready = place and arrival_of(now, place, tonumber(given.priority), given.jid) or tonumber(due or 0)
    if ready > 0 and ready <= now then add('ready', string.format('%.3f', ready)) end
  else
    -- The number of expired locks that this pop renewed. If there are any, no pop has come since the first expired.
    local renewed = redis.call('zcount', locks, t, '+inf') - call('zcount', locks, t, '+inf')
    add('renewed', renewed)
    if renewed > 0 then add('ready', call('zrange', locks, 0, 0, 'WITHSCORES')[2]) end
  end
  -- Begin a new dry run to read the throttles: in it, the slots that the pop took are free again.
  if given then need('dry_run/begin')() end
  local holding = need('throttle/holding')(now, t, seconds, queue)
  need('dry_run/begin')()
  local full, ordered = {}, nil
  if jid then full, ordered = need('throttle/full_for')(now, t, seconds, queue, jid) end
  if ordered then add('ordered', 1) end
  -- Begin a new dry run to read the holders: in it, locks that the calls above renewed have expired again.
  need('dry_run/begin')()
  local function add_throttles(name, rows)
    for i = 1, #rows do
      local row = add_holders(now, {unpack(rows[i], 1, 3)}, rows[i], 5)
      -- Count the jobs that wait now: the pop of the dry run has held further ones.
      local waiting = tonumber(pcall('zcard', Keys.throttle .. row[1] .. Keys.pending)) or 0
      table.insert(row, 4, '' .. waiting)
      rows[i] = row
    end
    if rows[1] then reply[#reply + 1], reply[#reply + 2] = name, rows end
  end
  add_throttles('throttles', holding)
  add_throttles('full', full)
  return reply
end
