-- Finds a held job that the next pop of its queue may return. Writes nothing.
-- Takes: now; queue
-- Returns: its jid, nil if there is none
local Job = Fields('state', 'queue', 'throttles')

return function(now, queue)
  local decode, would_run = need('job/tags'), need('throttle/would_run')(now, queue)
  local page = need('throttle/held_page')(now, queue)
  for i = 1, #page, 2 do
    local jid = page[i]
    local job = redis.pcall('hmget', Keys.job .. jid, unpack(Job))
    if job[Job.state] == 'throttled' and job[Job.queue] == queue and would_run(jid, decode(job[Job.throttles])) then
      return jid
    end
  end
end
