-- Removes a job from the set of its state. If the job is not in that set, removes it from the work, lock, depends,
-- scheduled and throttled sets. A running job is also removed from the work set, where an interrupted pop may have left
-- it. Failed and complete jobs are in no set. A job that is in no set of its own queue is removed from the sets of all
-- listed queues: the `retry` of an older script into another queue leaves it there.
-- Takes: jid state queue
return function(jid, state, queue)
  local call, base, home = redis.call, Keys.queue .. queue, nil
  if state == 'waiting' or state == 'stalled' then
    home = Keys.work
  elseif state == 'running' then
    home = Keys.locks
    call('zrem', base .. Keys.work, jid)
  elseif state == 'scheduled' then
    home = Keys.scheduled
  elseif state == 'depends' then
    home = Keys.depends
  elseif state == 'throttled' then
    home = Keys.throttled
  elseif state == 'failed' or state == 'complete' then
    return
  end
  if home and call('zrem', base .. home, jid) == 1 then return end
  local gone = call('zrem', base .. Keys.work, jid) + call('zrem', base .. Keys.locks, jid) +
    call('zrem', base .. Keys.depends, jid) + call('zrem', base .. Keys.scheduled, jid)
  if redis.pcall('zrem', base .. Keys.throttled, jid) == 1 or gone > 0 then return end
  local queues = redis.pcall('zrange', Keys.queues, 0, -1)
  for i = 1, #queues do
    local other = Keys.queue .. queues[i]
    redis.pcall('zrem', other .. Keys.work, jid)
    redis.pcall('zrem', other .. Keys.locks, jid)
    redis.pcall('zrem', other .. Keys.scheduled, jid)
    redis.pcall('zrem', other .. Keys.throttled, jid)
  end
end
