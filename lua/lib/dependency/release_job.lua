-- Releases a job from state `depends`: into the schedule if it was put with a delay, else into the work set.
-- Takes: now; jid; queue; priority; due time; whether a due time in the past counts as none
return function(now, jid, queue, priority, due, past)
  local call = redis.call
  local key, at = Keys.job .. jid, due and tonumber(due)
  local ahead = at and at - at == 0 and not (past and at <= now)
  local state = ahead and 'scheduled' or 'waiting'
  call('zrem', Keys.queue .. queue .. Keys.depends, jid)
  need('queue/place')(now, nil, jid, queue, state, ahead and at or priority)
  call('hset', key, 'state', state)
  if due then call('hdel', key, 'scheduled') end
end
