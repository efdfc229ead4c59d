-- Writes the fields of a job that a pop grants, with a fencing token: a later grant has a larger one.
-- Takes: key; the reply of job/read, which gets the token; the time of the grant; worker; end of the lock
-- Returns: true
local Job = Fields('job/read')

return function(key, job, stamp, worker, expires)
  local fence = redis.pcall('incr', Keys.fence)
  -- A counter that is not a number must not stop the jobs.
  if type(fence) == 'number' then job[Job.fence] = string.format('%.0f', fence) end
  redis.call('hmset', key, 'time', stamp, 'worker', worker, 'expires', expires, 'state', 'running',
    'remaining', job[Job.remaining] or '0', 'fence', job[Job.fence] or '0')
  return true
end
