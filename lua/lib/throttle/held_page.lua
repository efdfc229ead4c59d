-- Returns the held jobs of a queue that one pop looks at again, up to ten: the first ones, which are the next to run,
-- and others that rotate with the time. A jid may stand there twice.
-- Takes: now; queue
-- Returns: jid, order value, ...
return function(now, queue)
  local call, held = redis.call, Keys.queue .. queue .. Keys.throttled
  local count = call('zcard', held)
  if count == 0 then return {} end
  local offset = math.floor(now) * 5 % count
  local page = call('zrange', held, 0, 4, 'WITHSCORES')
  local others = count > 5 and call('zrange', held, offset, offset + 4, 'WITHSCORES') or {}
  for i = 1, #others do page[#page + 1] = others[i] end
  return page
end
