-- Checks a name in `ql:queues`: the queue must be in use. Reports due work that nobody takes, and more
-- running jobs than the limit.
-- Takes: queue
return function(check)
  -- Whether a template of the queue is paused: then the queue is in use.
  local function has_paused(queue)
    if not check.paused_queues then
      check.paused_queues = {}
      local stored = redis.pcall('hgetall', Keys.paused_recurring)
      for i = 1, stored.err and 0 or #stored, 2 do
        local document = need('recurring/paused')(stored[i])
        if document and document.named.queue then check.paused_queues[document.named.queue] = true end
      end
    end
    return check.paused_queues[queue]
  end

  local parts = {Keys.work, Keys.locks, Keys.scheduled, Keys.depends, Keys.recur, Keys.throttled}

  -- Whether one of the queue's sets has entries. A key of another type counts as empty.
  local function has_set(base)
    for i = 1, #parts do
      if (check.ask('zcard', base .. parts[i]) or 0) > 0 then return true end
    end
    return false
  end

  return function(queue)
    local score, wrong = check.ask('zscore', Keys.queues, queue)
    if wrong then return check.wrong_type(Keys.queues, 'zset') end
    local base = Keys.queue .. queue
    local used = redis.call('exists', base .. Keys.work, base .. Keys.locks, base .. Keys.scheduled,
      base .. Keys.depends, base .. Keys.recur, base .. Keys.throttled) > 0
    if score and not used and not has_paused(queue) then check.add('queue-empty', queue, 'nothing in it') end
    if used and not score and has_set(base) then check.need('index/queue_listed')(queue) end
    if score and tonumber(score) > check.latest then check.add('clock', queue, 'first seen at ' .. score) end
    if not used then return end
    if check.ask('sismember', Keys.paused, queue) ~= 1 then
      local old = string.format('%.17g', check.now - 86400)
      for _, part in ipairs({Keys.locks, Keys.scheduled, Keys.recur}) do
        -- Leave out jobs that are scheduled before the epoch: they are never due, which is a finding of its own.
        local from = part == Keys.scheduled and '0' or '-inf'
        local first = check.ask('zrangebyscore', base .. part, from, old, 'WITHSCORES', 'LIMIT', 0, 1)
        if first and first[1] then
          check.add('queue-stuck', queue, string.sub(part, 2) .. ' since ' .. first[2])
          break
        end
      end
    end
    local limit = need('value/number')(check.ask('hget', Keys.config, queue .. '-max-concurrency'))
    if limit and limit >= 1 then
      local held = check.ask('zcount', base .. Keys.locks, string.format('(%.17g', check.now), '+inf')
      if held and held > math.floor(limit) then
        check.add('over-limit', queue, held .. ' of ' .. string.format('%.0f', math.floor(limit)))
      end
    end
  end
end
