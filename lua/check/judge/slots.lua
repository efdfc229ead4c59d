-- Checks that a running job has a slot of each of its throttles, and that one of its throttles lists a throttled job.
-- Takes: job
return function(check)
  return function(job)
    local ids = check.need('judge/tag_list')(job.throttles) or {}
    if job.state == 'running' then
      for i = 1, #ids do
        local key = Keys.throttle .. ids[i] .. Keys.locks
        local taken, wrong = check.ask('zscore', key, job.id)
        if wrong then
          check.wrong_type(key, 'zset')
        elseif not taken then
          local held = check.need('repair/held')
          local free = held.free(ids[i])
          free = free > 0 or free + held.count_strays(ids[i]) > 0
          local changes = free and {{'zset', key, job.id, false, check.score(check.put_time(job))}} or {}
          check.add('slot-missing', job.id, ids[i], changes, not free and 'full' or nil)
        end
      end
    elseif job.state == 'throttled' then
      for i = 1, #ids do
        local key = Keys.throttle .. ids[i] .. Keys.pending
        local value, wrong = check.ask('zscore', key, job.id)
        if wrong then return check.wrong_type(key, 'zset') end
        if value then return end
      end
      local changes = {}
      local locked = check.need('judge/edge_sets').locked(job)
      if not locked then check.need('repair/held').return_to_work(changes, job) end
      check.add('throttled-by-nothing', job.id, job.queue, changes, locked and 'locked' or nil)
    end
  end
end
