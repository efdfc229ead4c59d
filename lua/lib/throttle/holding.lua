-- The throttles without a free slot that hold jobs of a queue, each as throttle/figures has it. Reads the held jobs
-- that a pop would check again.
-- Takes: now; t; seconds; queue. The call must be a dry run, because it drops the slots that a pop would drop
local Job = Fields('state', 'queue', 'throttles')

return function(now, t, seconds, queue)
  local gate, rows, seen = need('throttle/gate')(now, t, seconds, queue), {}, {}
  local page, decode = need('throttle/held_page')(now, queue), need('job/tags')
  for i = 1, #page, 2 do
    local job = redis.pcall('hmget', Keys.job .. page[i], unpack(Job))
    local id = job[Job.state] == 'throttled' and job[Job.queue] == queue
      and gate.full(page[i], decode(job[Job.throttles]))
    if id and not seen[id] then
      seen[id] = true
      rows[#rows + 1] = need('throttle/figures')(id)
    end
  end
  return rows
end
