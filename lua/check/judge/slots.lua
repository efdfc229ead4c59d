-- Checks that a running job has a slot of each of its throttles, and that a throttle holds a held job.
-- Takes: job
return function(c)
  return function(j)
    local ids = c.need('judge/tag_list')(j.throttles) or {}
    if j.state == 'running' then
      for i = 1, #ids do
        local key = Keys.throttle .. ids[i] .. Keys.locks
        local taken, wrong = c.ask('zscore', key, j.id)
        if wrong then
          c.wrong_type(key, 'zset')
        elseif not taken then
          local free = c.need('repair/held').free(ids[i]) > 0
          local changes = free and {{'zset', key, j.id, false, c.score(c.put_time(j))}} or {}
          c.add('slot-missing', j.id, ids[i], changes, not free and 'full' or nil)
        end
      end
    elseif j.state == 'throttled' then
      for i = 1, #ids do
        local key = Keys.throttle .. ids[i] .. Keys.pending
        local value, wrong = c.ask('zscore', key, j.id)
        if wrong then return c.wrong_type(key, 'zset') end
        if value then return end
      end
      local changes = {}
      local locked = c.need('judge/edge_sets').locked(j)
      if not locked then c.need('repair/held').return_to_work(changes, j) end
      c.add('throttled-by-nothing', j.id, j.queue, changes, locked and 'locked' or nil)
    end
  end
end
