-- Reports a paused queue that is not in the list of queues and has no jobs.
-- Takes: queue
return function(check)
  return function(queue)
    local paused, wrong = check.ask('sismember', Keys.paused, queue)
    if wrong then return check.wrong_type(Keys.paused, 'set') end
    local base = Keys.queue .. queue
    if paused == 1 and not check.ask('zscore', Keys.queues, queue)
      and redis.call('exists', base .. Keys.work, base .. Keys.locks, base .. Keys.scheduled, base .. Keys.depends,
        base .. Keys.recur, base .. Keys.throttled) == 0 then
      check.add('queue-empty', queue, 'paused, nothing in it')
    end
  end
end
