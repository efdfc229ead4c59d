-- Ends the time in which the lane skips further puts, as the option `ttl` of a put sets it, if this job began it.
-- Takes: lane; jid
return function(lane, jid)
  local window = redis.pcall('get', Keys.window .. lane)
  if type(window) == 'string' and string.match(window, '^%S+ (.*)$') == jid then
    redis.call('del', Keys.window .. lane)
  end
end
