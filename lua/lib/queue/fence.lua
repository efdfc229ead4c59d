-- Writes the fields of a job that a pop grants, with a fencing token: a later grant has a larger one.
-- Takes: key; the reply of job/read, whose `ext` (job/extension) gets the token; the time of the grant; worker; end of
--   the lock
local Job = Fields('job/read')
local Ext = Fields('job/extension')

return function(key, job, stamp, worker, expires)
  local fence, ext = redis.pcall('incr', Keys.fence), job.ext
  -- A counter that is not a number must not stop the jobs.
  if type(fence) == 'number' then ext[Ext.fence] = string.format('%.0f', fence) end
  redis.call('hmset', key, 'time', stamp, 'worker', worker, 'expires', expires, 'state', 'running',
    'remaining', job[Job.remaining] or '0', 'fence', ext[Ext.fence] or '0')
end
