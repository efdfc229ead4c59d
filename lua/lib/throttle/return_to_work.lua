-- Puts a held job back into the work set, with its age and priority.
-- Takes: jid; queue; the ids of its throttles; its order value
return function(jid, queue, ids, value)
  local call = redis.call
  for i = 1, #ids do redis.pcall('zrem', Keys.throttle .. ids[i] .. Keys.pending, jid) end
  call('zrem', Keys.queue .. queue .. Keys.throttled, jid)
  call('zadd', Keys.queue .. queue .. Keys.work, string.format('%.17g', -tonumber(value)), jid)
  call('hset', Keys.job .. jid, 'state', 'waiting')
end
