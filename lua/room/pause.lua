-- Pauses with an end: `ql:pauses` tells until when a queue of `ql:paused_queues` is paused.
local call = redis.call
local Pause = {}

-- Returns whether a queue is paused. A pause whose end has come is taken away.
function Pause.holds(now, queue)
  if call('sismember', Keys.paused, queue) == 0 then return false end
  local text = call('hget', Keys.pauses, queue)
  if text then
    local ok, pause = pcall(cjson.decode, text)
    local till = ok and type(pause) == 'table' and tonumber(pause['until'])
    if till and till <= now then
      call('srem', Keys.paused, queue)
      call('hdel', Keys.pauses, queue)
      return false
    end
  end
  return true
end

return Pause
