-- How many entries the sets of a queue have. Writes nothing.
-- Takes: t; queue
-- Result: `locked`, of them `lapsed` by expiry; `work`, of them `taken` back from a worker; `scheduled`, of them `due`;
--   `depends`, `throttled`, `recurring`; `first`, the jid and the score of the job of `work` that a pop gets first
return function(t, queue)
  local call, base = redis.call, Keys.queue .. queue
  local locks, waiting, timed = base .. Keys.locks, base .. Keys.work, base .. Keys.scheduled
  local locked, work = call('zcard', locks), call('zcard', waiting)
  local scheduled, depends, throttled, recurring = 0, 0, 0, 0
  -- One command for the usual case.
  if call('exists', timed, base .. Keys.depends, base .. Keys.throttled, base .. Keys.recur) > 0 then
    scheduled, depends = call('zcard', timed), call('zcard', base .. Keys.depends)
    throttled, recurring = call('zcard', base .. Keys.throttled), call('zcard', base .. Keys.recur)
  end
  local first = work > 0 and call('zrevrange', waiting, '0', '0', 'WITHSCORES') or {}
  return {
    locked = locked,
    work = work,
    scheduled = scheduled,
    depends = depends,
    throttled = throttled,
    recurring = recurring,
    first = first,
    -- Counting between scores may read each entry of a small set. It ends early if none is in between.
    lapsed = locked > 0 and call('zcount', locks, '-inf', t) or 0,
    taken = first[2] == 'inf' and call('zcount', waiting, '+inf', '+inf') or 0,
    due = scheduled > 0 and call('zcount', timed, '-inf', t) or 0,
  }
end
