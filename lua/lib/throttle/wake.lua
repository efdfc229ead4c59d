-- Moves held jobs of a throttle back to the waiting jobs: one for each free slot, up to 5000; up to 1000 if the
-- throttle has no limit. Removes entries of jobs that this throttle does not hold.
-- Takes: id; the maximum number of jobs, or nil
-- Result: the number of jobs that it moved
local Job = Fields('state', 'queue', 'throttles')

return function(id, limit)
  local call, pending = redis.call, Keys.throttle .. id .. Keys.pending
  local waiting = redis.pcall('zcard', pending)
  -- A key of another type counts as an empty set.
  if type(waiting) ~= 'number' or waiting == 0 then return 0 end
  local maximum, slots = need('throttle/maximum')(id), Keys.throttle .. id .. Keys.locks
  local free = maximum == 0 and 1000 or maximum - (tonumber(redis.pcall('zcard', slots)) or 0)
  free = math.max(0, math.min(free, limit or 5000, 5000))
  local decode, max_woken = need('job/tags'), free
  while free > 0 do
    local page = call('zrange', pending, 0, math.min(free, 1000) - 1, 'WITHSCORES')
    if not page[1] then break end
    for i = 1, #page, 2 do
      local jid = page[i]
      local job = redis.pcall('hmget', Keys.job .. jid, unpack(Job))
      local queue, held = job[Job.queue], false
      if job[Job.state] == 'throttled' and queue then
        local ids = decode(job[Job.throttles])
        for k = 1, #ids do held = held or ids[k] == id end
        if held then need('throttle/return_to_work')(jid, queue, {id}, page[i + 1]) end
      end
      if held then free = free - 1 else call('zrem', pending, jid) end
    end
  end
  return max_woken - free
end
