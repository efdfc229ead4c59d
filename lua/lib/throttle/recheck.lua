-- Looks again at up to ten held jobs of a queue and returns those to work that may run now. This finds what nobody
-- woke: slots lost to paused queues, limits that expired, jobs that an older script ended.
-- Takes: now; queue; the gate (throttle/gate)
-- Returns: how many jobs returned to work
local Job = Fields('state', 'queue', 'throttles')

return function(now, queue, gate)
  local call, held = redis.call, Keys.queue .. queue .. Keys.throttled
  local count = call('zcard', held)
  if count == 0 then return 0 end
  -- The first are the next, so they are always among them; the others rotate with the time.
  local offset = math.floor(now) * 5 % count
  local page, seen = call('zrange', held, 0, 4, 'WITHSCORES'), {}, {}
  local others = count > 5 and call('zrange', held, offset, offset + 4, 'WITHSCORES') or {}
  for i = 1, #others do page[#page + 1] = others[i] end
  local decode, taken, moved = need('job/tags'), {}, 0
  for i = 1, #page, 2 do
    local jid = page[i]
    if not seen[jid] then
      seen[jid] = true
      local job = redis.pcall('hmget', Keys.job .. jid, unpack(Job))
      if job[Job.state] ~= 'throttled' or job[Job.queue] ~= queue then
        call('zrem', held, jid)
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
  end
  return moved
end
