-- Decides whether a job of a lane may run: only the first job of the lane may. If the job is not in its lane, because
-- an older script put it, adds it. A job that may not run gets state `depends` and waits for the job before it.
-- Takes: now; t; lane; jid; queue
-- Result: whether the job may run
return function(now, t, lane, jid, queue)
  local call, key = redis.call, Keys.lane .. lane
  local live, first = need('lane/live'), nil
  while true do
    local page = redis.pcall('zrange', key, 0, 0)
    -- If the lane's key has a wrong type, let the job run, so that the damage does not stop the queue.
    if page.err then return true end
    first = page[1]
    if not first or first == jid or live(lane, first) then break end
    need('lane/leave')(now, lane, first)
  end
  if first == jid then return true end
  if not first then
    call('zadd', key, 1, jid)
    return true
  end
  local rank, before = call('zrank', key, jid), nil
  if rank then
    before = need('lane/before')(now, lane, jid, rank)
    if before and need('dependency/find_cycle')(jid, {before}, true) ~= nil then
      -- A user made the job before this one depend on this one. Remove this job and add it again, before that job.
      need('lane/leave')(now, lane, jid)
      before = need('lane/join')(now, lane, jid, true)
    end
  else
    before = need('lane/join')(now, lane, jid, true)
  end
  if not before or not need('lane/wait_behind')(jid, before) then return true end
  call('hset', Keys.job .. jid, 'state', 'depends')
  need('queue/place')(now, t, jid, queue, 'depends')
  return false
end
