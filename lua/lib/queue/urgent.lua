-- Finds what keeps jobs of a queue from running until an operator acts: a throttle whose maximum is negative, and up to
-- 10 lanes whose first job has an expired lock. Reads the held jobs that throttle/held_page chooses, and the 100 oldest
-- expired locks.
-- Takes: now; queue; the throttle that holds its oldest job, or false (queue/oldest); queue/counts
-- Result: the throttle, how many jobs it holds, false for each if there is none; per lane: its name, its first job and
--   that job's worker
local Held = Fields('state', 'throttles')
local First = Fields('state', 'key', 'worker')

return function(now, queue, throttle, counts)
  local pcall, call, blocked = redis.pcall, redis.call, false
  local function block_if_negative(id)
    if id and not blocked and need('throttle/maximum')(id) < 0 then blocked = id end
  end
  block_if_negative(throttle)
  if not blocked and counts.throttled > 0 then
    local page = need('throttle/held_page')(now, queue)
    for i = 1, #page, 2 do
      local job = pcall('hmget', Keys.job .. page[i], unpack(Held))
      local ids = job[Held.state] == 'throttled' and need('job/tags')(job[Held.throttles]) or {}
      for k = 1, #ids do block_if_negative(ids[k]) end
    end
  end
  local waiting = blocked and pcall('zcard', Keys.throttle .. blocked .. Keys.pending)
  local lanes = {}
  local expired = counts.lapsed > 0
    and call('zrange', Keys.queue .. queue .. Keys.locks, 0, math.min(counts.lapsed, 100) - 1) or {}
  for i = 1, #expired do
    local first = expired[i]
    local job = pcall('hmget', Keys.job .. first, unpack(First))
    local lane = job[First.state] == 'running' and job[First.key]
    local behind = lane and pcall('zcard', Keys.lane .. lane)
    if type(behind) == 'number' and behind > 1 and need('lane/is_first')(lane, first) then
      lanes[#lanes + 1] = {lane, first, job[First.worker] or ''}
      if #lanes == 10 then break end
    end
  end
  return blocked, waiting, lanes
end
