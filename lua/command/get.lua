-- A job as JSON, nil if it does not exist.
-- Takes: jid
-- Refuses: a missing jid
local Job = Fields('job/read')

return function(argv)
  local jid = argv[3]
  if not jid then error('Job(): no jid provided') end
  local job = need('job/read')(jid, 'shown')
  if not job[Job.jid] then return nil end
  local key = Keys.job .. jid
  -- Usually none of the three keys exists: one EXISTS finds that out and saves their reads.
  local any = redis.call('exists', Keys.tracked, key .. Keys.dependents, key .. Keys.dependencies) > 0
  return need('job/render')(jid, job, any and redis.call('zscore', Keys.tracked, jid), any, '')
end, true
