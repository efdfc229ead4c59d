-- Removes a job from the set of its state; if it is not there, from the others. A running job is also removed
-- from the work set, where an interrupted pop may have left it. Failed and complete jobs are in no set.
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
  elseif state == 'failed' or state == 'complete' then
    return
  end
  if home and call('zrem', base .. home, jid) == 1 then return end
  call('zrem', base .. Keys.work, jid)
  call('zrem', base .. Keys.locks, jid)
  call('zrem', base .. Keys.depends, jid)
  call('zrem', base .. Keys.scheduled, jid)
end
