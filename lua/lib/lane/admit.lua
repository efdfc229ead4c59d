-- Decides whether a job of a lane may run: only the first may. A job that is not in its lane, as after a put by an
-- older script, joins it; if others are before it, it waits for them.
-- Takes: now; t; lane; jid; queue
-- Result: whether it may run; if not, it is in state `depends` now
return function(now, t, lane, jid, queue)
  local call, key = redis.call, Keys.lane .. lane
  local live, first = need('lane/live'), nil
  while true do
    local page = redis.pcall('zrange', key, 0, 0)
    -- If the lane's key has another type, let the job run: that must not stop a queue.
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
      -- The place was changed manually: the job before this one depends on it. Join again, before that job.
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
