-- Checks streaming statistics: the counts of the histogram must add up to `total`; `vk` and `mean` must be numbers.
-- Takes: name without the prefix; key
return function(check)
  local number = need('value/number')
  return function(name, key)
    if check.ask('hlen', key) > 1000 then return check.add('not-judged', name, 'more than 1000 fields') end
    local fields, sum, of = redis.call('hgetall', key), 0, {}
    for i = 1, #fields, 2 do
      of[fields[i]] = fields[i + 1]
      if string.find(fields[i], '^[smhd]%-?%d+$') then sum = sum + (number(fields[i + 1]) or 0) end
    end
    local total, vk, mean = of.total or '0', of.vk or '0', of.mean or '0'
    if number(total) ~= sum then
      check.add('stats-sum', name, 'total is ' .. total .. ', slots hold ' .. check.score(sum))
    elseif not number(vk) or number(vk) < -1e-6 then
      check.add('stats-sum', name, 'vk is ' .. vk)
    elseif not number(mean) then
      check.add('stats-sum', name, 'mean is ' .. mean)
    end
  end
end
