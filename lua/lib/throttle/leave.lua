-- Removes a job from all its throttles: from their slots, and from the jobs that wait for a slot. If this frees a slot,
-- a waiting job returns to its queue (throttle/wake).
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
