-- Returns when a pop of a queue may next bring a job without a put: the next time of its schedule, of its templates and
-- of its locks, whose grace period ends like a lock, or the end of its pause. Writes nothing.
-- Takes: now; queue; the first time that counts, as ZRANGEBYSCORE takes it
-- Returns: the time, 0 if a key has a wrong type; nil if there is none
return function(now, queue, from)
  local call, base, due = redis.call, Keys.queue .. queue, nil
  local sets = {base .. Keys.locks, base .. Keys.scheduled, base .. Keys.recur}
  -- One command for an empty queue: most are.
  if call('exists', Keys.pauses, unpack(sets)) == 0 then return nil end
  if call('sismember', Keys.paused, queue) == 1 then
    local paused, till = need('queue/paused')(now, queue, true)
    if paused then return till end
  end
  for i = 1, #sets do
    local first = redis.pcall('zrangebyscore', sets[i], from, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
    local at = first.err and 0 or tonumber(first[2])
    if at and (not due or at < due) then due = at end
  end
  return due
end
