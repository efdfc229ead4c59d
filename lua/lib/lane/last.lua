-- Finds the last job of a lane. Entries at the end that the lane may forget are removed.
-- Takes: now; lane
-- Result: its jid, its fields as lane/live reads them, and its place; nil, nil and 0 if the lane is empty
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
