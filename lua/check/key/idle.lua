-- Checks that no job has been held for more than 10 seconds by a throttle with a free slot, unless its queue is paused.
-- Takes: id
return function(c)
  local mark_of = need('job/mark')
  return function(id)
    local changes = {}
    local free, jobs = c.need('repair/held').wake(changes, id, 0)
    for i = 1, #jobs do
      local j = jobs[i]
      local _, since = mark_of(j.id, j.state, j.queue)
      if c.now - (tonumber(since) or 0) > 10 and c.ask('sismember', Keys.paused, j.queue) ~= 1 then
        return c.add('throttle-idle', id, #jobs .. ' held, ' .. (free < 100 and free or 'many') .. ' free', changes)
      end
    end
  end
end
