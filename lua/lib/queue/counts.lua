-- How many entries the sets of a queue have. Writes nothing.
-- Takes: t; queue
-- Result: `locked`, of them `lapsed` by expiry; `work`, of them `taken` back from a worker; `scheduled`, of them `due`;
--   `depends`, `throttled`, `recurring`
return function(t, queue)
  local call, base = redis.call, Keys.queue .. queue
  local counts = {
    locked = call('zcard', base .. Keys.locks),
    work = call('zcard', base .. Keys.work),
    scheduled = call('zcard', base .. Keys.scheduled),
    depends = call('zcard', base .. Keys.depends),
    throttled = call('zcard', base .. Keys.throttled),
    recurring = call('zcard', base .. Keys.recur),
  }
  -- Counting between scores costs several times what the size does.
  counts.lapsed = counts.locked > 0 and call('zcount', base .. Keys.locks, '-inf', t) or 0
  counts.taken = counts.work > 0 and call('zcount', base .. Keys.work, '+inf', '+inf') or 0
  counts.due = counts.scheduled > 0 and call('zcount', base .. Keys.scheduled, '-inf', t) or 0
  return counts
end
