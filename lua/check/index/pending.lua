-- Checks an entry of the held jobs of a throttle: its job must be held, and must name the throttle.
-- Takes: jid
return function(check, id)
  local key, held = Keys.throttle .. id .. Keys.pending, check.need('repair/held')
  return function(jid)
    local value, wrong = check.ask('zscore', key, jid)
    if wrong then return held.wrong_type(key) end
    if not value then return end
    local what, job = check.read(jid)
    if what == 'type' then return check.wrong_type(Keys.job .. jid, 'hash') end
    if what == 'odd' or what == 'job' and job.state == 'throttled' and held.carries(job, id) then return end
    check.add('pending-stray', jid, id, {{'zset', key, jid, value, false}})
  end
end
