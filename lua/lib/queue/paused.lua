-- Tells whether a queue in `ql:paused_queues` is still paused, and until when, if its pause has an end. Deletes a pause
-- whose end has passed.
-- Takes: now; queue; whether to write nothing, so that a pause whose end has passed stays
return function(now, queue, look)
  local text = redis.call('hget', Keys.pauses, queue)
  if not text then return true end
  local ok, pause = pcall(cjson.decode, text)
  local till = ok and type(pause) == 'table' and tonumber(pause['until'])
  if not till or till > now then return true, till or nil end
  if look then return false end
  redis.call('srem', Keys.paused, queue)
  redis.call('hdel', Keys.pauses, queue)
  return false
end
