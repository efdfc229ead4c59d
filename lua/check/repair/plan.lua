-- Adds to the context the functions that plan repairs.
return function(check)
  local number, ask, now = need('value/number'), check.ask, check.now

  -- A score as Redis writes it.
  function check.score(n)
    if n == math.huge then return 'inf' end
    if n == -math.huge then return '-inf' end
    return string.format('%.17g', n)
  end

  -- When a job was put; now, if that is unknown or in the future.
  function check.put_time(job)
    local time = number(job.time)
    return time and time <= check.latest and time or now
  end

  -- The score of a waiting job in the work set.
  function check.work_score(job)
    if job.state == 'stalled' then return 'inf' end
    return check.score(need('queue/score')(check.put_time(job), job.priority))
  end

  -- Up to 500 known queues, and whether there are more. Read once per call.
  local names, more
  function check.queues()
    if not names then
      names = ask('zrange', Keys.queues, 0, 500) or {}
      more = #names > 500
      names[501] = nil
    end
    return names, more
  end

  -- The existing sets of these queues with queue and part, and whether there are more queues. A set
  -- that a repair of this call creates holds only entries that belong there.
  local sets
  function check.sets()
    local queues, beyond = check.queues()
    if not sets then
      sets = {}
      for i = 1, #queues do
        for _, part in ipairs({Keys.work, Keys.locks, Keys.scheduled, Keys.depends, Keys.throttled}) do
          local key = Keys.queue .. queues[i] .. part
          if redis.call('exists', key) == 1 then sets[#sets + 1] = {key = key, queue = queues[i], part = part} end
        end
      end
    end
    return sets, beyond
  end

  -- Adds a queue to `ql:queues`, if it is missing there.
  function check.list_queue(changes, queue)
    local score, wrong = ask('zscore', Keys.queues, queue)
    if not score and not wrong then changes[#changes + 1] = {'zset', Keys.queues, queue, false, check.score(now)} end
  end

  -- Adds the move of a key to a name under `lost:`, without its expiry.
  function check.set_aside(changes, key)
    local ttl = redis.call('ttl', key)
    if ttl >= 0 then changes[#changes + 1] = {'expiry', key, false, ttl .. '000', false} end
    changes[#changes + 1] = {'move', key, false, false,
      Keys.lost .. check.run .. ':' .. string.sub(key, #Keys.prefix + 1)}
    return changes
  end
end
