-- Checks that no job has been held for more than 10 seconds by a throttle with a free slot, if the next pop of its
-- queue could return only such jobs: no other job waits there, and the queue is not paused.
-- Takes: id
return function(c)
  local mark_of, held = need('job/mark'), c.need('repair/held')
  return function(id)
    local free = math.min(100, held.free(id))
    if free <= 0 then return end
    local page, idle, changes, count = c.ask('zrange', Keys.throttle .. id .. Keys.pending, 0, 99) or {}, {}, {}, 0
    for i = 1, #page do
      local what, j = c.read(page[i])
      if what == 'job' and j.state == 'throttled' and held.carries(j, id) then
        local left = idle[j.queue]
        if not left then
          local _, since = mark_of(j.id, j.state, j.queue)
          local waits = c.now - (tonumber(since) or 0) <= 10 or c.ask('sismember', Keys.paused, j.queue) == 1
            or redis.call('exists', Keys.queue .. j.queue .. Keys.work) == 1
          left = waits and 0 or free
        end
        if left > 0 then
          held.return_to_work(changes, j)
          count = count + 1
        end
        idle[j.queue] = left - 1
      end
    end
    if count > 0 then c.add('throttle-idle', id, count .. ' held', changes) end
  end
end
