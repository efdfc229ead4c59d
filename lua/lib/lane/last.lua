-- Finds the last job of a lane. Removes entries at the end whose job does not belong to the lane any more.
-- Takes: now; lane
-- Result: jid of the last job, its fields as lane/live reads them, and its score; nil, nil and 0 if the lane is empty
return function(now, lane)
  local live = need('lane/live')
  while true do
    local last = redis.call('zrevrange', Keys.lane .. lane, 0, 0, 'WITHSCORES')
    local jid = last[1]
    if not jid then return nil, nil, 0 end
    local job = live(lane, jid)
    if job then return jid, job, tonumber(last[2]) end
    need('lane/leave')(now, lane, jid)
  end
end
