-- The throttles that have no free slot for a job, each as throttle/figures gives it, and whether other jobs of its lane
-- come first.
-- Takes: now; t; seconds; queue; jid. The call is a dry run: a slot that a pop would drop is dropped
local Job = Fields('job/read')

return function(now, t, seconds, queue, jid)
  local job, rows = need('job/read')(jid), {}
  local defaults = redis.pcall('hget', Keys.config, queue .. '-defaults')
  local d = type(defaults) == 'string' and need('option/defaults')(defaults)
  local ids, maxima = need('option/throttles_at_pop')(d, queue, job)
  local gate = need('throttle/gate')(now, t, seconds, queue)
  if ids then gate.give(maxima) end
  ids = ids or need('job/tags')(job[Job.throttles])
  for i = 1, #ids do
    if gate.full(jid, {ids[i]}) then rows[#rows + 1] = need('throttle/figures')(ids[i]) end
  end
  local lane = job[Job.throttles] and redis.call('hget', Keys.job .. jid, 'key')
  return rows, lane and not need('lane/is_first')(lane, jid)
end
