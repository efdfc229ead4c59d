-- Finds since when the oldest job of each queue is due without being run, and why. A job with an expired lock is due
-- since the expiry, a recurring job since its first run that no pop has put. The cost hardly depends on the number of
-- jobs. Writes nothing.
-- Takes: queue ...
-- Result: per queue: since when, false if nothing is due; the jid; `waiting`, `throttled`, `ordered`, `limited`,
--   `expired`, `recurring` or `paused`; for a throttle or a lane its name, else false
-- Refuses: a missing queue, more than 10000 queues
return function(argv, now, t)
  local call, oldest = redis.call, need('queue/oldest')
  if not argv[3] then error('Look(): queue missing') end
  if argv[10003] then error('Look(): more than 10000 queues') end
  return need('value/rows')(need('value/args_from')(argv, 3), function(queue)
    local since, jid, why, by = oldest(now, t, queue)
    local function consider(part, from, what)
      local first = call('zrangebyscore', Keys.queue .. queue .. part, from, t, 'WITHSCORES', 'LIMIT', 0, 1)
      if first[1] and not (since and tonumber(since) <= tonumber(first[2])) then
        since, jid, why, by = first[2], first[1], what, false
      end
    end
    consider(Keys.locks, '-inf', 'expired')
    consider(Keys.recur, 0, 'recurring')
    if why == 'recurring' and need('queue/is_full')(t, queue) then why = 'limited' end
    if since and call('sismember', Keys.paused, queue) == 1 and need('queue/paused')(now, queue, true) then
      why, by = 'paused', false
    end
    return since and {since, jid, why, by or false} or false
  end)
end
