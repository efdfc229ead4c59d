-- Holds a job instead of adding it to the work set, if one of its throttles is full.
-- Takes: now; t; seconds; queue; jid; of the job its stored `throttles`, its `priority`, and as `limit` the setting
--   `max-job-history`
-- Result: whether it is held
-- Publishes: as throttle/hold and queue/expire_locks
return function(now, t, seconds, queue, jid, job)
  local gate = need('throttle/gate')(now, t, seconds, queue)
  local full = gate.full(jid, need('job/tags')(job.throttles))
  if full then
    local value = string.format('%.17g', -need('queue/score')(now, job.priority))
    need('throttle/hold')(seconds, jid, queue, full, value, job.limit)
  end
  gate.wake()
  return full ~= nil
end
