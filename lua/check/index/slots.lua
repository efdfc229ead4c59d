-- Checks that the job which holds a slot of a throttle runs and names the throttle. `key/idle` finds free slots that
-- held jobs should have.
-- Takes: jid
return function(check, id)
  local key, held = Keys.throttle .. id .. Keys.locks, check.need('repair/held')
  return function(jid)
    local taken, wrong = check.ask('zscore', key, jid)
    if wrong then return held.wrong_type(key) end
    if not taken then return end
    local what, job = check.read(jid)
    if what == 'type' then return check.wrong_type(Keys.job .. jid, 'hash') end
    if not held.is_stray(id, what, job) then return end
    check.add('slot-stray', jid, id, {{'zset', key, jid, taken, false}})
  end
end
