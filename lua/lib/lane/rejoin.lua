-- Puts a job that runs again into its lane, unless it kept its place there.
-- Takes: now; lane; jid; its state is still the old one
-- Result: the job before it that it has to wait for from now on, nil if there is none or it kept its place
return function(now, lane, jid)
  if redis.call('zscore', Keys.lane .. lane, jid) then
    if need('lane/live')(lane, jid) then return nil end
    -- Remove the entry of an earlier failure, which an older script left in the lane.
    need('lane/leave')(now, lane, jid)
  end
  local before = need('lane/join')(now, lane, jid, true)
  if before then need('dependency/link')(jid, {before}) end
  return before
end
