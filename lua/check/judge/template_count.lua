-- Checks that the count of a template is at least `n`, the number at the end of the jid of one of its jobs. A call
-- reports a number only if it is higher than the numbers that it has reported.
-- Takes: jid of the template; n
return function(check)
  local highest = {}
  return function(id, n)
    local key = Keys.recurring .. id
    local stored, wrong = check.ask('hget', key, 'count')
    local count = need('value/number')(stored)
    if wrong or not count or count % 1 ~= 0 or n <= count or n <= (highest[id] or 0) then return end
    highest[id] = n
    local made = string.format('%.0f', n)
    check.add('recurring-count', id, made, {{'hash', key, 'count', stored, made}})
  end
end
