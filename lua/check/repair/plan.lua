-- Adds functions that plan the changes of a repair to `check`, the context of the verifier.
return function(check)
  local number, ask, now = need('value/number'), check.ask, check.now

  -- A score as Redis writes it.
  function check.score(n)
    if n == math.huge then return 'inf' end
    if n == -math.huge then return '-inf' end
    return string.format('%.17g', n)
  end

  -- The time at which a job was put. If that is unknown or in the future, the time of this call.
  function check.put_time(job)
    local time = number(job.time)
    return time and time <= check.latest and time or now
  end

  -- The score that a job should have in the work set of its queue: infinite for a stalled job.
  function check.work_score(job)
    if job.state == 'stalled' then return 'inf' end
    return check.score(need('queue/score')(check.put_time(job), job.priority))
  end

  -- The names of up to 500 queues in `ql:queues`, and whether there are more. They are read once per call.
  local names, more
  function check.queues()
    if not names then
      names = ask('zrange', Keys.queues, 0, 500) or {}
      more = #names > 500
      names[501] = nil
    end
    return names, more
  end

  -- The existing sets of the queues in `check.queues()`, such as work sets and lock sets, and whether there are more
  -- queues. They are read once per call: a set that a repair of this call creates holds only entries that belong there.
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

  -- Plans to add a queue to `ql:queues`, if it is missing there.
  function check.list_queue(changes, queue)
    local score, wrong = ask('zscore', Keys.queues, queue)
    if not score and not wrong then changes[#changes + 1] = {'zset', Keys.queues, queue, false, check.score(now)} end
  end

  -- Plans to set a key aside: to remove its expiry, and to rename it to a name under `lost:`.
  function check.set_aside(changes, key)
    local ttl = redis.call('ttl', key)
    if ttl >= 0 then changes[#changes + 1] = {'expiry', key, false, ttl .. '000', false} end
    changes[#changes + 1] = {'move', key, false, false,
      Keys.lost .. check.run .. ':' .. string.sub(key, #Keys.prefix + 1)}
    return changes
  end
end
