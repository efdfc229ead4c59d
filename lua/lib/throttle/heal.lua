-- Drops slots of a full throttle whose holders do not run. Only its three oldest holders are looked at. A holder in
-- another queue whose lock expired longer ago than the grace period gets the step that a pop of that queue would
-- give it: nobody may pop there.
-- Takes: now; t; seconds; id; the queue of the caller;
--   the set of jids that got their slots in this call and do not run yet
-- Returns: how many slots were dropped
-- Publishes: as throttle/expire_holder
return function(now, t, seconds, id, own, fresh)
  local call, locks = redis.call, Keys.throttle .. id .. Keys.locks
  local grace = need('value/number')(redis.pcall('hget', Keys.config, 'grace-period')) or 10
  local dropped, oldest, judge = 0, call('zrange', locks, 0, 2), need('throttle/holder')
  for i = 1, #oldest do
    local jid = oldest[i]
    local fault, queue, warned = judge(now, id, jid, own, grace)
    if fault and not fresh[jid] then
      local lost = true
      if fault == 'expired' then
        need('throttle/expire_holder')(now, t, seconds, jid, queue, warned == '1' and 10 or 0)
        lost = call('hget', Keys.job .. jid, 'state') ~= 'running'
      end
      if lost then
        -- The end of the job may have dropped the slot already.
        call('zrem', locks, jid)
        dropped = dropped + 1
      end
    end
  end
  return dropped
end
