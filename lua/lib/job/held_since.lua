-- For a job that a throttle holds or held: the time since which it is due, as text. Nil if its score gives no time.
-- Takes: now; jid; queue
return function(now, jid, queue)
  local number, base = need('value/number'), Keys.queue .. (queue or '')
  local function score(part)
    return number(redis.pcall('zscore', base .. part, jid))
  end
  local held, waiting = score(Keys.throttled), score(Keys.work)
  local priority = number(redis.pcall('hget', Keys.job .. jid, 'priority'))
  local due = need('queue/arrival')(now, priority and (held and -held or waiting), priority)
  return due and string.format('%.3f', due)
end
