-- Checks an entry of a lane: its job must be live (lane/live), and must wait for the live job before it in the lane.
-- Takes: jid
return function(check, lane)
  local key, lanes = Keys.lane .. lane, check.need('repair/lane')
  return function(jid)
    local rank, wrong = check.ask('zrank', key, jid)
    if wrong then return check.wrong_type(key, 'zset') end
    if not rank then return end
    local what, job, why = lanes.entry(lane, jid)
    if what == 'live' then
      check.need('judge/lane')(job, rank)
    elseif what == 'dead' then
      local changes, word = check.need('repair/lane_leave')(lane, jid, rank)
      check.add('lane-stray', jid, lane, changes, word)
    elseif why == 'type' then
      check.wrong_type(Keys.job .. jid, 'hash')
    end
  end
end
