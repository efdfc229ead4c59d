-- Finds the live job before another in its lane. Entries between them that the lane may forget are removed.
-- Takes: now; lane; jid; its rank
-- Result: the jid of the job before it, nil if it is the first
return function(now, lane, jid, rank)
  local call, key = redis.call, Keys.lane .. lane
  while rank and rank > 0 do
    local before = call('zrange', key, rank - 1, rank - 1)[1]
    if need('lane/live')(lane, before) then return before end
    -- Leaving may remove further entries: read the rank again.
    need('lane/leave')(now, lane, before)
    rank = call('zrank', key, jid)
  end
end
