-- Returns the figures of a throttle that holds jobs: id, maximum, slots taken, jobs that wait for it; then of up to
-- ten holders, the oldest first: jid, klass, queue, state. Writes nothing.
-- Takes: now; id
local Job = Fields('klass', 'queue', 'state')

return function(now, id)
  local pcall, key = redis.pcall, Keys.throttle .. id
  local function size(part)
    local count = pcall('zcard', key .. part)
    return type(count) == 'number' and count or 0
  end
  local row = {id, '' .. need('throttle/maximum')(id), '' .. size(Keys.locks), '' .. size(Keys.pending)}
  local holders = pcall('zrange', key .. Keys.locks, 0, 9)
  for i = 1, #holders do
    local job = pcall('hmget', Keys.job .. holders[i], unpack(Job))
    local queue, state = job[Job.queue] or '', job[Job.state] or ''
    local ends = state == 'running' and pcall('zscore', Keys.queue .. queue .. Keys.locks, holders[i])
    if type(ends) == 'string' and tonumber(ends) <= now then state = 'stalled' end
    for _, word in ipairs({holders[i], job[Job.klass] or '', queue, state}) do row[#row + 1] = word end
  end
  return row
end
