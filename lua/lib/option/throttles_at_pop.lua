-- The throttles that a pop gives a job without any, as clients without these options put it: those of the
-- queue's defaults.
-- Takes: defaults or nil; queue; the reply of job/read
-- Result: the ids, nil if the job keeps what it has; by id, the maximum that the defaults give it
local Job = Fields('job/read')

return function(defaults, queue, job)
  if not defaults or not (defaults.lock or defaults.throttles) then return nil end
  if job[Job.throttles] and job[Job.throttles] ~= '[ ]' then return nil end
  return need('option/throttles')({}, false, defaults, queue, job[Job.klass], job[Job.data])
end
