-- Tells whether a job can be deleted, judged by itself: the caller tests its dependents. Writes nothing.
-- Takes: the function of value/key_fault
-- Result: a function that takes a jid. It returns the reason why the job cannot be deleted (`gone`, `complete`, or
--   `invalid`: a key has a wrong type), or nil; the details of the reason; the job's mark, if the job exists; and if
--   it can be deleted, its fields for job/delete
local Job = Fields('job/delete', 'jid')

return function(key_fault)
  local mark_of, job_key_fault = need('job/mark'), need('job/key_fault')
  local dependencies_fault = need('dependency/key_fault')

  return function(jid)
    local key = Keys.job .. jid
    local job = redis.pcall('hmget', key, unpack(Job))
    if job.err then
      return 'invalid', need('value/wrong_type')(job, false, 'hash', key, 'hmget', key, 'jid', 'state')
    end
    if not job[Job.jid] then return 'gone' end
    local state, queue = job[Job.state], job[Job.queue]
    local mark = mark_of(jid, state, queue)
    if state == 'complete' then return 'complete', nil, mark end
    local fault, tags, names = job_key_fault(key_fault, jid, {state = state, queue = queue,
      worker = job[Job.worker], tags = job[Job.tags], failure = job[Job.failure]})
    if not fault then fault, names = dependencies_fault(key_fault, jid) end
    if fault then return 'invalid', fault, mark end
    job.dependencies, job.tag_list = names, tags
    return nil, nil, mark, job
  end
end
