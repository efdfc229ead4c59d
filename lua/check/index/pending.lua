-- Checks an entry of the held jobs of a throttle: the job is held, and names the throttle.
-- Takes: jid
return function(c, id)
  local key, held = Keys.throttle .. id .. Keys.pending, c.need('repair/held')
  return function(jid)
    local value, wrong = c.ask('zscore', key, jid)
    if wrong then return held.wrong_type(key) end
    if not value then return end
    local what, j = c.read(jid)
    if what == 'type' then return c.wrong_type(Keys.job .. jid, 'hash') end
    if what == 'odd' or what == 'job' and j.state == 'throttled' and held.carries(j, id) then return end
    c.add('pending-stray', jid, id, {{'zset', key, jid, value, false}})
  end
end
