-- Adds a job that has just failed to the failure list of its group, and counts it in the queue's statistics of the day.
-- Takes: now jid group queue
return function(now, jid, group, queue)
  local call = redis.call
  local day = Keys.stats .. now - now % 86400 .. ':' .. queue
  local count = need('stats/count')
  count(day, 'failures', 1)
  count(day, 'failed', 1)
  call('sadd', Keys.failures, group)
  call('lpush', Keys.group .. group, jid)
end
