-- Gives a held job the order value of another priority. Its age stays.
-- Takes: jid; queue; stored priority; new priority
return function(jid, queue, before, priority)
  local call = redis.call
  before = need('value/number')(before) or 0
  local function move(key)
    -- Beyond 2^53 the order value loses its time part.
    if math.abs(before) < 9e15 and math.abs(priority) < 9e15 then
      redis.pcall('zadd', key, 'XX', 'INCR', before - priority, jid)
    else
      redis.pcall('zadd', key, 'XX', string.format('%.17g', -priority), jid)
    end
  end
  move(Keys.queue .. queue .. Keys.throttled)
  local ids = need('job/tags')(call('hget', Keys.job .. jid, 'throttles'))
  for i = 1, #ids do move(Keys.throttle .. ids[i] .. Keys.pending) end
end
