-- Divides the new dependencies of a job into pending, complete and missing jobs. A key of a wrong type is missing.
-- Takes: jids; whether this call has written
-- Result: the jids of the pending, of the complete, and of the missing jobs
return function(names, wrote)
  local pending, complete, missing = {}, {}, {}
  for i = 1, #names do
    local key = Keys.job .. names[i]
    local job = redis.pcall('hmget', key, 'jid', 'state')
    if job.err then need('value/wrong_type')(job, wrote, 'hash', key, 'hmget', key, 'jid', 'state') end
    if not job[1] then
      missing[#missing + 1] = names[i]
    elseif job[2] == 'complete' then
      complete[#complete + 1] = names[i]
    else
      pending[#pending + 1] = names[i]
    end
  end
  return pending, complete, missing
end
