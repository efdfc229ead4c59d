-- Removes entries at the front of a lane whose jobs have ended or no longer exist, so that the live job behind them is
-- released.
-- Takes: now; lane; a jid that is known to be live, or nil
return function(now, lane, known)
  while true do
    local first = redis.call('zrange', Keys.lane .. lane, 0, 0)[1]
    if not first or first == known or need('lane/live')(lane, first) then return end
    need('lane/leave')(now, lane, first)
  end
end
