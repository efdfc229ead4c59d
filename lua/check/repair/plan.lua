-- Adds the functions to the context that plans of repairs are made of.
return function(c)
  local number, ask, now = need('value/number'), c.ask, c.now

  -- Returns a score as Redis writes it.
  function c.score(n)
    if n == math.huge then return 'inf' end
    if n == -math.huge then return '-inf' end
    return string.format('%.17g', n)
  end

  -- Returns when a job was put; now, if that is unknown or in the future.
  function c.put_time(j)
    local time = number(j.time)
    return time and time <= now + 3600 and time or now
  end

  -- Returns the score of a waiting job in the work set.
  function c.work_score(j)
    if j.state == 'stalled' then return 'inf' end
    return c.score((number(j.priority) or 0) - c.put_time(j) / 10000000000)
  end

  -- Returns up to 500 known queues, and whether there are more. Read once per call.
  local names, more
  function c.queues()
    if not names then
      names = ask('zrange', Keys.queues, 0, 500) or {}
      more = #names > 500
      names[501] = nil
    end
    return names, more
  end

  -- Returns the existing sets of these queues with queue and part, and whether there are more queues. A set
  -- that a repair of this call creates holds only entries that belong there.
  local sets
  function c.sets()
    local queues, beyond = c.queues()
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
  function c.list_queue(changes, queue)
    local score, wrong = ask('zscore', Keys.queues, queue)
    if not score and not wrong then changes[#changes + 1] = {'zset', Keys.queues, queue, false, c.score(now)} end
  end

  -- Adds the move of a key to a name under `lost:`, without its expiry.
  function c.set_aside(changes, key)
    local ttl = redis.call('ttl', key)
    if ttl >= 0 then changes[#changes + 1] = {'expiry', key, false, ttl .. '000', false} end
    changes[#changes + 1] = {'move', key, false, false, Keys.lost .. c.run .. ':' .. string.sub(key, #Keys.prefix + 1)}
    return changes
  end
end
