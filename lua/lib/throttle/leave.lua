-- Removes a job from its throttles: from their slots, and from the held jobs. Jobs that wait for a slot that becomes
-- free return to work.
-- Takes: jid; state; queue; stored list of ids
return function(jid, state, queue, stored)
  local call, ids = redis.call, need('job/tags')(stored)
  for i = 1, #ids do
    local key = Keys.throttle .. ids[i]
    if state == 'throttled' then redis.pcall('zrem', key .. Keys.pending, jid) end
    if redis.pcall('zrem', key .. Keys.locks, jid) == 1 then need('throttle/wake')(ids[i]) end
  end
  if state == 'throttled' then call('zrem', Keys.queue .. queue .. Keys.throttled, jid) end
end
