-- For a job that a throttle holds or held: the time since which it is due, as text. Nil if its score gives no time.
-- Takes: jid; queue
return function(jid, queue)
  local number, base = need('value/number'), Keys.queue .. (queue or '')
  local function score(part)
    local text = redis.pcall('zscore', base .. part, jid)
    return type(text) == 'string' and number(text)
  end
  local held, waiting = score(Keys.throttled), score(Keys.work)
  local priority = number(redis.pcall('hget', Keys.job .. jid, 'priority'))
  local value = held or waiting and -waiting
  local due = value and priority and (value + priority) * 10000000000
  return due and due > 0 and string.format('%.3f', due) or nil
end
