-- How many entries the sets of a queue have. Writes nothing.
-- Takes: t; queue
-- Result: `locked`, of them `lapsed` by expiry; `work`, of them `taken` back from a worker; `scheduled`, of them `due`;
--   `depends`, `throttled`, `recurring`; `first`, the jid and the score of the job of `work` that a pop gets first
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
  counts.first = counts.work > 0 and call('zrevrange', base .. Keys.work, 0, 0, 'WITHSCORES') or {}
  -- Counting between scores may read each entry of a small set. It ends early if none is in between.
  counts.lapsed = counts.locked > 0 and call('zcount', base .. Keys.locks, '-inf', t) or 0
  counts.taken = counts.first[2] == 'inf' and call('zcount', base .. Keys.work, '+inf', '+inf') or 0
  counts.due = counts.scheduled > 0 and call('zcount', base .. Keys.scheduled, '-inf', t) or 0
  return counts
end
