-- Checks the value of a throttle, of a window of uniqueness, or of the counter of fencing tokens.
-- Takes: name without the prefix; key; family
return function(check)
  local number = need('value/number')
  return function(name, key, family)
    if family == 'th' then
      local stored = check.ask('hget', key, 'maximum')
      local n = stored and number(stored)
      if not n then
        check.add('config-value', name, 'maximum is no number, so it limits nothing')
      elseif n % 1 ~= 0 then
        check.add('config-value', name, 'maximum is no whole number')
      end
      return check.need('index/throttles')(string.sub(key, #Keys.throttle + 1))
    end
    local text = check.ask('get', key)
    if family == 'fence' then
      -- Redis counts up to 2^63, which a number of more than 18 digits could exceed.
      if not string.find(text, '^%d+$') or #text > 18 then
        check.add('config-value', name, 'is no count, so jobs get no fencing tokens')
      end
    else
      local ends = number(string.match(text, '^(%S+) ') or '')
      if ends and ends > check.last_due then check.add('config-value', name, 'is open until ' .. text) end
    end
  end
end
