-- Finds what keeps jobs of a queue from running until somebody acts: a throttle that lets no job run, and a lane whose
-- first job has an expired lock. Of held jobs, those are read that a pop would look at again.
-- Takes: now; queue; the throttle and the lane that hold its oldest jobs, or false (queue/oldest)
-- Returns: the throttle, how many jobs wait for it; the lane, its first job and that job's worker; false for what is
--   not found
local Held = Fields('state', 'throttles')
local First = Fields('state', 'queue', 'worker')

return function(now, queue, throttle, lane)
  local pcall, call, blocked = redis.pcall, redis.call, false
  local maximum = need('throttle/maximum')
  local function look_at(id)
    if id and not blocked and maximum(id) < 0 then blocked = id end
  end
  look_at(throttle)
  if not blocked and call('exists', Keys.queue .. queue .. Keys.throttled) == 1 then
    local page = need('throttle/held_page')(now, queue)
    for i = 1, #page, 2 do
      local job = pcall('hmget', Keys.job .. page[i], unpack(Held))
      local ids = job[Held.state] == 'throttled' and need('job/tags')(job[Held.throttles]) or {}
      for k = 1, #ids do look_at(ids[k]) end
    end
  end
  local waiting = blocked and pcall('zcard', Keys.throttle .. blocked .. Keys.pending)
  if lane then
    local first = pcall('zrange', Keys.lane .. lane, 0, 0)[1]
    local job = first and pcall('hmget', Keys.job .. first, unpack(First)) or {}
    local ends = job[First.state] == 'running'
      and pcall('zscore', Keys.queue .. (job[First.queue] or '') .. Keys.locks, first)
    if type(ends) == 'string' and tonumber(ends) <= now then
      return blocked, waiting, lane, first, job[First.worker] or ''
    end
  end
  return blocked, waiting, false, false, false
end
