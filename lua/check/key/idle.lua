-- Checks that a throttle with a free slot has held no job for more than 10 seconds. Leaves out jobs of a paused queue,
-- and of a queue with waiting jobs, which a pop may grant instead.
-- Takes: id
return function(check)
  local mark_of, held = need('job/mark'), check.need('repair/held')
  return function(id)
    local free = math.min(100, held.free(id))
    if free <= 0 then return end
    local page, idle, changes, count = check.ask('zrange', Keys.throttle .. id .. Keys.pending, 0, 99) or {}, {}, {}, 0
    for i = 1, #page do
      local what, job = check.read(page[i])
      if what == 'job' and job.state == 'throttled' and held.carries(job, id) then
        local left = idle[job.queue]
        if not left then
          local _, since = mark_of(job.id, job.state, job.queue)
          local waits = check.now - (tonumber(since) or 0) <= 10 or check.ask('sismember', Keys.paused, job.queue) == 1
            or redis.call('exists', Keys.queue .. job.queue .. Keys.work) == 1
          left = waits and 0 or free
        end
        if left > 0 then
          held.return_to_work(changes, job)
          count = count + 1
        end
        idle[job.queue] = left - 1
      end
    end
    if count > 0 then check.add('throttle-idle', id, count .. ' held', changes) end
  end
end
