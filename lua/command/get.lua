-- get: jid
-- Answers the job as JSON, nil if there is none.
local Job = Fields('job/read')

return function(argv)
  local jid = argv[3]
  if not jid then error('Job(): no jid provided') end
  local job = need('job/read')(jid)
  if not job[Job.jid] then return nil end
  local key = Keys.job .. jid
  -- One command tells that none of the three is there, as mostly.
  local any = redis.call('exists', Keys.tracked, key .. Keys.dependents, key .. Keys.dependencies) > 0
  return need('job/render')(jid, job, any and redis.call('zscore', Keys.tracked, jid), any, '')
end, true
