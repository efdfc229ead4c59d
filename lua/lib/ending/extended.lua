-- Settles what an end of a run, other than a completion, means for the lane, the payloads and the throttles of a job.
-- Takes: now; t; seconds; jid; `retry`, `timeout`, `fail` or `exhausted`; the queue where the job is now; its lane and
--   its stored throttles, or false
-- Publishes: as merge/vanish and merge/split
local Job = Fields('dup', 'hold')

return function(now, t, seconds, jid, how, queue, lane, throttles)
  if lane then
    local key = Keys.job .. jid
    local job = redis.call('hmget', key, unpack(Job))
    local leaves = job[Job.hold] ~= '1'
    if job[Job.dup] == 'merge' then
      if how == 'retry' or how == 'exhausted' and leaves then need('merge/absorb')(now, jid, lane, queue) end
      if how == 'exhausted' and leaves then need('merge/split')(now, t, seconds, jid, queue) end
      redis.call('hset', key, 'data', need('merge/compose')(jid))
    end
    if leaves and (how == 'fail' or how == 'exhausted') then need('lane/leave')(now, lane, jid) end
  end
  if throttles then need('throttle/leave')(jid, 'running', queue, throttles) end
end
