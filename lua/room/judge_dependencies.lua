-- Sorts the dependencies a job is to get: returns open, complete and missing ones.
return function(names)
  local open, complete, missing = {}, {}, {}
  for i = 1, #names do
    local job = redis.pcall('hmget', Keys.job .. names[i], 'jid', 'state')
    if job.err or not job[1] then
      missing[#missing + 1] = names[i]
    elseif job[2] == 'complete' then
      complete[#complete + 1] = names[i]
    else
      open[#open + 1] = names[i]
    end
  end
  return open, complete, missing
end
