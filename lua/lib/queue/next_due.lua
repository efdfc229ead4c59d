-- The time at which a pop of a queue may next bring a job without a further put: the next time of its schedule, of its
-- templates and of its locks, whose grace period ends like a lock, or the end of its pause. Writes nothing.
-- Takes: now; queue; the first time that counts, as ZRANGEBYSCORE takes it
-- Result: the time, 0 if a key has a wrong type; nil if there is none
return function(now, queue, from)
  local call, base, due = redis.call, Keys.queue .. queue, nil
  local locks, scheduled, recur = base .. Keys.locks, base .. Keys.scheduled, base .. Keys.recur
  -- One EXISTS tells which keys exist: it counts a key each time the key is named, and the keys are named 1, 2, 4 and
  -- 8 times. Most queues are empty.
  local present = call('exists', locks, scheduled, scheduled, recur, recur, recur, recur, Keys.pauses, Keys.pauses,
    Keys.pauses, Keys.pauses, Keys.pauses, Keys.pauses, Keys.pauses, Keys.pauses)
  if present == 0 then return nil end
  if call('sismember', Keys.paused, queue) == 1 then
    local paused, till = need('queue/paused')(now, queue, true)
    if paused then return till end
  end
  local function consider(key)
    local first = redis.pcall('zrangebyscore', key, from, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
    local at = first.err and 0 or tonumber(first[2])
    if at and (not due or at < due) then due = at end
  end
  if present % 2 >= 1 then consider(locks) end
  if present % 4 >= 2 then consider(scheduled) end
  if present % 8 >= 4 then consider(recur) end
  return due
end
