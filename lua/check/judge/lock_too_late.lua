-- Tests whether a lock of a queue expires absurdly late: more than 100 days and more than 10 heartbeats
-- from now.
-- Takes: queue; time
-- Result: true or false
return function(check)
  local number, beats = need('value/number'), {}
  return function(queue, moment)
    if moment <= check.horizon then return false end
    if not beats[queue] then
      local set = check.ask('hmget', Keys.config, queue .. '-heartbeat', 'heartbeat') or {}
      beats[queue] = number(set[1]) or number(set[2]) or 0
    end
    return moment > check.now + 10 * beats[queue]
  end
end
