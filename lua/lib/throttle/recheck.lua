-- Checks up to ten held jobs of a queue again, and returns those that may run now to work. So it finds jobs that no
-- other call woke: a free slot was offered to a paused queue, a limit expired, or an older script ended a job.
-- Takes: now; queue; the gate (throttle/gate)
-- Result: how many jobs returned to work
local Job = Fields('state', 'queue', 'throttles')

return function(now, queue, gate)
  local call, page = redis.call, need('throttle/held_page')(now, queue)
  local decode, taken, moved = need('job/tags'), {}, 0
  for i = 1, #page, 2 do
    local jid = page[i]
    local job = redis.pcall('hmget', Keys.job .. jid, unpack(Job))
    if job[Job.state] ~= 'throttled' or job[Job.queue] ~= queue then
      call('zrem', Keys.queue .. queue .. Keys.throttled, jid)
    else
      local ids = decode(job[Job.throttles])
      local free = not gate.full(jid, ids)
      for k = 1, #ids do free = free and gate.free(ids[k]) > (taken[ids[k]] or 0) end
      if free then
        for k = 1, #ids do taken[ids[k]] = (taken[ids[k]] or 0) + 1 end
        need('throttle/return_to_work')(jid, queue, ids, page[i + 1])
        moved = moved + 1
      end
    end
  end
  return moved
end
