-- Puts a job that runs again into its lane, unless it kept its place there.
-- Takes: now; lane; jid; its state is still the old one
-- Result: the job before it that it has to wait for from now on, nil if there is none or it kept its place
return function(now, lane, jid)
  local place = redis.pcall('zscore', Keys.lane .. lane, jid)
  -- A key of another type counts as an empty lane: it must not keep a job from running again.
  if type(place) == 'table' then return nil end
  if place then
    if need('lane/live')(lane, jid) then return nil end
    -- Remove the entry that an older script left in the lane when the job failed.
    need('lane/leave')(now, lane, jid)
  end
  local before = need('lane/join')(now, lane, jid, true)
  return before and need('lane/wait_behind')(jid, before) and before or nil
end
