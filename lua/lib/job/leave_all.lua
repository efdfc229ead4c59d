-- Takes a job that is deleted out of its lane, closes the window that it holds, deletes its payloads, and gives back
-- what it has of its throttles.
-- Takes: now; jid; state; queue; its stored throttles
return function(now, jid, state, queue, throttles)
  local call = redis.call
  local lane = call('hget', Keys.job .. jid, 'key')
  if lane then
    need('lane/leave')(now, lane, jid)
    call('del', Keys.job .. jid .. Keys.payloads)
    need('lane/close_window')(lane, jid)
  end
  need('throttle/leave')(jid, state, queue, throttles)
end
