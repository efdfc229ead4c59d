-- Takes a job that is deleted out of its lane, closes the window that it holds, deletes its payloads, and gives back
-- what it has of its throttles.
-- Takes: now; jid; state; queue; its stored throttles
return function(now, jid, state, queue, throttles)
  local call = redis.call
  local lane = call('hget', Keys.job .. jid, 'key')
  if lane then
    need('lane/leave')(now, lane, jid)
    call('del', Keys.job .. jid .. Keys.payloads)
    local window = redis.pcall('get', Keys.window .. lane)
    if type(window) == 'string' and string.match(window, '^%S+ (.*)$') == jid then call('del', Keys.window .. lane) end
  end
  need('throttle/leave')(jid, state, queue, throttles)
end
