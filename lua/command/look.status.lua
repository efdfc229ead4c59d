-- What `status` shows, in one call, so that no two figures contradict each other. The cost hardly depends on
-- the number of jobs: a failure list is probed for its first failure before `since`. Writes nothing.
-- Takes: since [the number of groups, group ..., queue ...]; without names all groups and known queues
-- Result: number of complete jobs; text of INFO, nil if the user may not read it; per group: name, jobs, failures
--   since then; per queue: name, pops of today, completions of today, failures of today, late recurring jobs,
--   due time of the latest, oldest wait, its jid, why and what holds it (queue/oldest), then what queue/urgent
--   returns; the completions of the last minutes and over how many seconds; what look.queues returns, nil if there
--   are more than 2000 queues; what look.workers returns. Without names, if there are more than 2000 groups or
--   queues, only their number; with names, nil in place of the first two, and nothing after the queues
-- Refuses: a time that is not a number, a wrong number of groups, more than 2000 names
local call, pcall = redis.call, redis.pcall
local most = 2000

-- When the job at an index of a failure list failed; 0 if that is unknown.
local function failed_at(key, index)
  local jid = call('lrange', key, index, index)[1]
  local failure = pcall('hget', Keys.job .. jid, 'failure')
  if type(failure) ~= 'string' then return 0 end
  local when = need('failure/decode')(failure).when
  return type(when) == 'number' and when or 0
end

-- The number of failures since a time. The newest stands first. Up to 16 it is exact, beyond that to a
-- sixteenth: each probe reads another job.
local function count_recent(key, size, since)
  if size == 0 or failed_at(key, 0) < since then return 0 end
  if failed_at(key, size - 1) >= since then return size end
  local low, high = 1, 8
  while high < size and failed_at(key, high - 1) >= since do low, high = high, high * 8 end
  high = math.min(high, size)
  while high - low > math.max(1, low / 16) do
    local middle = math.floor((low + high) / 2)
    if failed_at(key, middle - 1) >= since then low = middle else high = middle end
  end
  return low
end

return function(argv, now, t)
  local since = need('value/number')(argv[3])
  if not since then error('Look(): since is not a number') end
  local given = argv[4]
  local count = need('value/whole')(given or 0, 0, math.max(0, #argv - 4))
  if not count then error('Look(): wrong number of groups: ' .. given) end
  if argv[most + 5] then error('Look(): more than ' .. most .. ' names') end
  -- The given names, or all members of a key; of too many none, and their number.
  local function names_or_count(first, last, how_many, members, key, ...)
    if given then
      local names = {}
      for i = first, last do names[i - first + 1] = argv[i] end
      return names
    end
    local all = call(how_many, key)
    if all > most then return {}, '' .. all end
    return call(members, key, ...)
  end
  local names, groups = names_or_count(5, 4 + count, 'scard', 'smembers', Keys.failures)
  groups = groups or need('value/rows')(need('value/sort')(names), function(group)
    local key = Keys.group .. group
    local size = pcall('llen', key)
    if type(size) ~= 'number' then size = 0 end
    return {group, '' .. size, '' .. count_recent(key, size, since)}
  end)
  local day = now - now % 86400 .. ':'
  local function counter(key, field)
    local value = pcall('hget', key, field)
    return type(value) == 'string' and value or '0'
  end
  local queues, oldest, urgent
  names, queues = names_or_count(5 + count, #argv, 'zcard', 'zrange', Keys.queues, 0, -1)
  oldest, urgent = need('queue/oldest'), need('queue/urgent')
  queues = queues or need('value/rows')(names, function(queue)
    local due = call('zrangebyscore', Keys.queue .. queue .. Keys.recur, 0, t, 'WITHSCORES', 'LIMIT', 0, 1)
    local waits, jid, why, by = oldest(now, t, queue)
    local blocked, waiting, stuck, first, worker = urgent(now, t, queue, why == 'throttled' and by)
    return {
      queue,
      counter(Keys.wait .. day .. queue, 'total'),
      counter(Keys.run .. day .. queue, 'total'),
      counter(Keys.stats .. day .. queue, 'failures'),
      '' .. call('zcount', Keys.queue .. queue .. Keys.recur, 0, t),
      due[2] or false,
      waits or false,
      jid or false,
      why or false,
      by or false,
      blocked,
      waiting and '' .. waiting,
      stuck,
      first,
      worker,
    }
  end)
  if given then return {false, false, groups, queues} end
  -- A denied command would leave an entry in the server's log of denials.
  local may = not redis.acl_check_cmd or redis.acl_check_cmd('info')
  local info = may and pcall('info')
  if type(info) ~= 'string' then info = false end
  local recent, seconds = need('stats/recent')(now)
  recent = recent and {'' .. recent, string.format('%.3f', seconds)} or {}
  local counts = type(queues) == 'table' and need('look.queues', true)({'look.queues', t}, now, t)
  local workers = need('look.workers', true)({'look.workers', t}, now, t)
  return {'' .. call('zcard', Keys.completed), info, groups, queues, recent, counts, workers}
end
