-- Returns the queues from which a pop may bring a job now: they are not paused, and hold waiting, throttled or due
-- jobs, expired locks, or templates that are due. Writes nothing. A key of a wrong type counts as jobs: the pop
-- refuses it by name.
-- Takes: [queue ...]; without names all known queues
-- Returns: queue ...
-- Refuses: more than 10000 names
return function(argv, now, t)
  local call, pcall = redis.call, redis.pcall
  if argv[10003] then error('Look(): more than 10000 queues') end
  local queues, ready = need('value/args_from')(argv, 3), {}
  if not queues[1] then queues = call('zrange', Keys.queues, 0, -1) end
  local function has_due(key)
    local due = pcall('zrangebyscore', key, '-inf', t, 'LIMIT', 0, 1)
    return due.err or due[1]
  end
  for i = 1, #queues do
    local queue = queues[i]
    local base = Keys.queue .. queue
    local work, held = base .. Keys.work, base .. Keys.throttled
    local locks, scheduled, recur = base .. Keys.locks, base .. Keys.scheduled, base .. Keys.recur
    -- One command for an empty queue: most are.
    if call('exists', work, held, locks, scheduled, recur) > 0
      and (call('exists', work, held) > 0 or has_due(locks) or has_due(scheduled) or has_due(recur))
      and not (call('sismember', Keys.paused, queue) == 1 and need('queue/paused')(now, queue, true)) then
      ready[#ready + 1] = queue
    end
  end
  return ready
end
