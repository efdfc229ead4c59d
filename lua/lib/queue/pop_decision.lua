-- Decides what pop does with an entry of the work set. If the entry and the fields of the job disagree, the job counts.
-- Takes: queue; t; jid; reply of job/read
-- Result: `take` (pop the job), `drop` (remove the entry), or `leave` (keep the entry of a damaged job for an operator)
local Job = Fields('job/read')

return function(queue, t, jid, job)
  local call = redis.call
  local state, home = job[Job.state], job[Job.queue]
  if not job[Job.jid] then return (job[Job.klass] or job[Job.data] or job.err) and 'leave' or 'drop' end
  if state == 'waiting' or state == 'stalled' or state == 'scheduled' then
    local base = Keys.queue .. (home or queue)
    if home and home ~= queue and call('zscore', base .. Keys.work, jid) then return 'drop' end
    if (state == 'scheduled' or home ~= queue) and call('zscore', base .. Keys.scheduled, jid) then return 'drop' end
    return 'take'
  elseif state == 'running' then
    -- The job stays with its holder. If its lock is missing, add one, so that a pop finds the job after the expiry.
    local expires = need('value/number')(redis.pcall('hget', Keys.job .. jid, 'expires'))
    expires = expires and string.format('%.17g', expires) or t
    call('zadd', Keys.queue .. (home or queue) .. Keys.locks, 'NX', expires, jid)
    return 'drop'
  elseif state == 'failed' or state == 'complete' or state == 'depends' then
    return 'drop'
  end
  return 'leave'
end
