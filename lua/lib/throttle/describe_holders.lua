-- Adds klass, queue and state to the holders of a throttle. Writes nothing.
-- Takes: now; a row of throttle/figures
-- Returns: the row, with four words for each holder: jid, klass, queue, state
local Job = Fields('klass', 'queue', 'state')

return function(now, row)
  local pcall, full = redis.pcall, {unpack(row, 1, 4)}
  for i = 5, #row do
    local job = pcall('hmget', Keys.job .. row[i], unpack(Job))
    local queue, state = job[Job.queue] or '', job[Job.state] or ''
    local ends = state == 'running' and pcall('zscore', Keys.queue .. queue .. Keys.locks, row[i])
    if type(ends) == 'string' and tonumber(ends) <= now then state = 'stalled' end
    for _, word in ipairs({row[i], job[Job.klass] or '', queue, state}) do full[#full + 1] = word end
  end
  return full
end
