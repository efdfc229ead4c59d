-- Closes the window of uniqueness of a lane, if this job opened it.
-- Takes: lane; jid
return function(lane, jid)
  local window = redis.pcall('get', Keys.window .. lane)
  if type(window) == 'string' and string.match(window, '^%S+ (.*)$') == jid then
    redis.call('del', Keys.window .. lane)
  end
end
