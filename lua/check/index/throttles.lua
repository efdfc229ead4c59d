-- Checks that a throttle with a maximum is in `ql:throttles`, and that one without a maximum is not.
-- Takes: id
return function(check)
  local number = need('value/number')
  return function(id)
    local score, wrong = check.ask('zscore', Keys.throttles, id)
    if wrong then return check.wrong_type(Keys.throttles, 'zset') end
    local stored
    stored, wrong = check.ask('hmget', Keys.throttle .. id, 'maximum', 'changed')
    -- Another finding reports a key of the wrong type.
    if wrong then return end
    local maximum, changed = stored[1], stored[2]
    if score and not maximum then
      check.add('throttle-gone', id, '', {{'zset', Keys.throttles, id, score, false}})
    elseif maximum and not score then
      local since = changed and number(changed) or check.now
      check.add('throttle-unlisted', id, '', {{'zset', Keys.throttles, id, false, check.score(since)}})
    end
  end
end
