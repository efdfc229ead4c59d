-- Estimates how many jobs of a queue were completed per minute in the last five minutes, by the newest 50 complete
-- jobs.
-- Takes: now; queue
-- Returns: the number as text; nil if fewer than five of them are of the queue
return function(now, queue)
  local call, last_queue, matching = redis.call, need('history/last_queue'), 0
  local since, key = string.format('(%.17g', now - 300), Keys.completed
  local all = call('zcount', key, since, '+inf')
  local newest = call('zrevrangebyscore', key, '+inf', since, 'LIMIT', 0, 50)
  for i = 1, #newest do
    if last_queue(newest[i]) == queue then matching = matching + 1 end
  end
  return matching >= 5 and string.format('%.2f', all * matching / #newest / 5) or nil
end
