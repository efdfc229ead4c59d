-- The queues from which a pop may bring a job now: they are not paused, and hold waiting, throttled or due
-- jobs, expired locks, or templates that are due. Writes nothing. A key of a wrong type counts as jobs: the pop
-- refuses it by name.
-- Takes: [queue ...]; without names all known queues
-- Result: in how many seconds the next other queue is due, `''` if that is not known; queue ..., each once
-- Refuses: more than 10000 names
return function(argv, now)
  local call = redis.call
  if argv[10003] then error('Look(): more than 10000 queues') end
  local queues, ready, due = need('value/args_from')(argv, 3), {''}, nil
  if not queues[1] then queues = call('zrange', Keys.queues, 0, -1) end
  need('value/rows')(queues, function(queue)
    local base = Keys.queue .. queue
    local work, held = base .. Keys.work, base .. Keys.throttled
    -- Most queues are empty, which one EXISTS shows. Read nothing more of an empty queue.
    if call('exists', work, held, base .. Keys.locks, base .. Keys.scheduled, base .. Keys.recur) > 0 then
      local at = 0
      if call('exists', work, held) == 0 then
        at = need('queue/next_due')(now, queue, '-inf')
      elseif call('sismember', Keys.paused, queue) == 1 then
        local paused, till = need('queue/paused')(now, queue, true)
        if paused then at = till end
      end
      if at and at <= now then
        ready[#ready + 1] = queue
      elseif at and (not due or at < due) then
        due = at
      end
    end
    return true
  end)
  if due then ready[1] = string.format('%.3f', due - now + 0.001) end
  return ready
end
