-- Checks a holder of a slot: it runs, and names the throttle. `key/idle` finds who may have the slot next.
-- Takes: jid
return function(c, id)
  local key, held = Keys.throttle .. id .. Keys.locks, c.need('repair/held')
  return function(jid)
    local taken, wrong = c.ask('zscore', key, jid)
    if wrong then return held.wrong_type(key) end
    if not taken then return end
    local what, j = c.read(jid)
    if what == 'type' then return c.wrong_type(Keys.job .. jid, 'hash') end
    if what == 'odd' or what == 'job' and j.state == 'running' and held.carries(j, id) then return end
    c.add('slot-stray', jid, id, {{'zset', key, jid, taken, false}})
  end
end
