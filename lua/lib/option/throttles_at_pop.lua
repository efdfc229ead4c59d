-- The throttles that a pop gives to a job without throttles: those of the queue's defaults. Clients that do not know
-- these options put such jobs.
-- Takes: defaults or nil; queue; the reply of job/read
-- Result: the ids, nil if the job keeps what it has; by id, the maximum that the defaults give it
local Job = Fields('job/read')

return function(defaults, queue, job)
  if not defaults or not (defaults.lock or defaults.throttles) then return nil end
  if job[Job.throttles] and job[Job.throttles] ~= '[ ]' then return nil end
  return need('option/throttles')({}, false, defaults, queue, job[Job.klass], job[Job.data])
end
