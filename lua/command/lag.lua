-- How long the oldest of these has been due in each queue: the first waiting job, the earliest due
-- scheduled job, the earliest expired lock. 0 if nothing is due. The cost does not depend on the number of jobs.
-- Takes: queue ...
-- Result: a JSON object of seconds by queue
-- Refuses: a missing queue, more than 10000 queues
return function(argv, now, t)
  local call, pcall = redis.call, redis.pcall
  local number, parts = need('value/number'), {}
  if not argv[3] then error('Queue(): no queue name provided') end
  if argv[10003] then error('Lag(): more than 10000 queues') end
  need('value/rows')(need('value/args_from')(argv, 3), function(queue)
    local base, since = Keys.queue .. queue, now
    local function consider(when)
      if when and when < since then since = when end
    end

    local first = call('zrevrange', base .. Keys.work, 0, 0, 'WITHSCORES')
    if first[1] then
      -- The score of a waiting job is its priority less a part of 1: the time when it was queued. A revoked lock
      -- and a large priority leave no such part; then the newest entry of the history has the time.
      local key = Keys.job .. first[1]
      local priority, score = number(pcall('hget', key, 'priority')), number(first[2])
      local queued = priority and score and (priority - score) * 10000000000
      if not queued or queued <= 0 then
        local newest = pcall('lrange', key .. Keys.history, -1, -1)
        queued = not newest.err and number(need('history/entry_time')(newest[1]))
      end
      consider(queued)
    end
    consider(number(call('zrangebyscore', base .. Keys.scheduled, '-inf', t, 'WITHSCORES', 'LIMIT', 0, 1)[2]))
    consider(number(call('zrangebyscore', base .. Keys.locks, '-inf', t, 'WITHSCORES', 'LIMIT', 0, 1)[2]))

    local lag = math.floor((now - since) * 1000 + 0.5) / 1000
    parts[#parts + 1] = cjson.encode(queue) .. ':' .. string.format('%.14g', lag)
    return true
  end)
  return '{' .. table.concat(parts, ',') .. '}'
end
