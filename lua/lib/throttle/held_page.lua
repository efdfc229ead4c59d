-- The held jobs of a queue that one pop checks again: all, if there are up to ten. Otherwise the first five, which
-- run next, and five others that change with the time.
-- Takes: now; queue
-- Result: jid, order value, ...
return function(now, queue)
  local call, held = redis.call, Keys.queue .. queue .. Keys.throttled
  local others = call('zcard', held) - 5
  if others <= 5 then return call('zrange', held, 0, 9, 'WITHSCORES') end
  -- Choose the others by a hash of the time: without the hash, a worker that pops at regular intervals could miss
  -- some.
  local from = 5 + tonumber(string.sub(redis.sha1hex(math.floor(now)), 1, 8), 16) % others
  local page, more = call('zrange', held, 0, 4, 'WITHSCORES'), call('zrange', held, from, from + 4, 'WITHSCORES')
  for i = 1, #more do page[#page + 1] = more[i] end
  return page
end
