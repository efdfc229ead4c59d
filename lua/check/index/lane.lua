-- Checks an entry of a lane: its job is live, and waits for the live job before it.
-- Takes: jid
return function(c, lane)
  local key, lanes = Keys.lane .. lane, c.need('repair/lane')
  return function(jid)
    local rank, wrong = c.ask('zrank', key, jid)
    if wrong then return c.wrong_type(key, 'zset') end
    if not rank then return end
    local what, j, why = lanes.entry(lane, jid)
    if what == 'live' then
      c.need('judge/lane')(j, rank)
    elseif what == 'dead' then
      local changes, word = c.need('repair/lane_leave')(lane, jid, rank)
      c.add('lane-stray', jid, lane, changes, word)
    elseif why == 'type' then
      c.wrong_type(Keys.job .. jid, 'hash')
    end
  end
end
