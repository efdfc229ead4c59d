-- Holds a job that would enter the work set, if one of its throttles is full.
-- Takes: now; t; seconds; queue; jid; stored list of ids; priority; the setting `max-job-history`
-- Returns: whether it is held
-- Publishes: as throttle/hold and throttle/expire_holder
return function(now, t, seconds, queue, jid, stored, priority, limit)
  local gate = need('throttle/gate')(now, t, seconds, queue)
  local full = gate.full(jid, need('job/tags')(stored))
  if full then
    local value = string.format('%.17g', now / 10000000000 - priority)
    need('throttle/hold')(seconds, jid, queue, full, value, limit)
  end
  gate.wake()
  return full ~= nil
end
