-- For each queue, how long its longest due item has been due: its first waiting job, its earliest due scheduled job
-- or its earliest expired lock. 0 if nothing is due. The cost does not depend on the number of jobs.
-- Takes: queue ...
-- Result: a JSON object of seconds by queue
-- Refuses: a missing queue, more than 10000 queues
return function(argv, now, t)
  local call, pcall = redis.call, redis.pcall
  local number, arrival_of, parts = need('value/number'), need('queue/arrival'), {}
  if not argv[3] then error('Queue(): no queue name provided') end
  if argv[10003] then error('Lag(): more than 10000 queues') end
  need('value/rows')(need('value/args_from')(argv, 3), function(queue)
    local base, since = Keys.queue .. queue, now
    local function consider(when)
      if when and when < since then since = when end
    end

    local first = call('zrevrange', base .. Keys.work, 0, 0, 'WITHSCORES')
    if first[1] then
      local priority = number(pcall('hget', Keys.job .. first[1], 'priority'))
      consider(arrival_of(now, priority and number(first[2]), priority, first[1]))
    end
    consider(number(call('zrangebyscore', base .. Keys.scheduled, '-inf', t, 'WITHSCORES', 'LIMIT', 0, 1)[2]))
    consider(number(call('zrangebyscore', base .. Keys.locks, '-inf', t, 'WITHSCORES', 'LIMIT', 0, 1)[2]))

    local lag = math.floor((now - since) * 1000 + 0.5) / 1000
    parts[#parts + 1] = cjson.encode(queue) .. ':' .. string.format('%.14g', lag)
    return true
  end)
  return '{' .. table.concat(parts, ',') .. '}'
end
