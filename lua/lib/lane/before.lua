-- Finds the job before another one in its lane. Removes entries between the two that the lane may forget (lane/live).
-- Takes: now; lane; jid; its rank
-- Result: the jid of the job before it, nil if it is the first
return function(now, lane, jid, rank)
  local call, key = redis.call, Keys.lane .. lane
  while rank and rank > 0 do
    local before = call('zrange', key, rank - 1, rank - 1)[1]
    if need('lane/live')(lane, before) then return before end
    -- lane/leave may remove further entries, so read the rank again.
    need('lane/leave')(now, lane, before)
    rank = call('zrank', key, jid)
  end
end
