-- Returns a function that tells whether a lock of a queue ends absurdly late: not within a hundred
-- days, nor within ten heartbeats.
return function(c)
  local number, beats = need('value/number'), {}
  return function(queue, moment)
    if moment <= c.now + 8640000 then return false end
    if not beats[queue] then
      local set = c.ask('hmget', Keys.config, queue .. '-heartbeat', 'heartbeat') or {}
      beats[queue] = number(set[1]) or number(set[2]) or 0
    end
    return moment > c.now + 10 * beats[queue]
  end
end
