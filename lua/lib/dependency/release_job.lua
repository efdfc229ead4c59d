-- Releases a job from state `depends`: into the schedule if it was put with a delay, else into the work set.
-- Takes: now; jid; queue; priority; due time; whether a due time in the past counts as none
return function(now, jid, queue, priority, due, past)
  local call = redis.call
  local key, base = Keys.job .. jid, Keys.queue .. queue
  call('zrem', base .. Keys.depends, jid)
  local at = due and tonumber(due)
  if at and at - at == 0 and not (past and at <= now) then
    call('zadd', base .. Keys.scheduled, string.format('%.17g', at), jid)
    call('hset', key, 'state', 'scheduled')
  else
    local p = tonumber(priority)
    if not p or p - p ~= 0 then p = 0 end
    call('zadd', base .. Keys.work, p - now / 10000000000, jid)
    call('hset', key, 'state', 'waiting')
  end
  if due then call('hdel', key, 'scheduled') end
end
