-- Estimates how many jobs of a queue were completed per minute in the last five minutes, by the newest 50 complete
-- jobs.
-- Takes: now; queue
-- Returns: the number as text; nil if fewer than five of them are of the queue
return function(now, queue)
  local last_queue, matching = need('history/last_queue'), 0
  local all, seconds = need('stats/recent')(now)
  if not all then return nil end
  local since = string.format('%.17g', now - seconds)
  local newest = redis.call('zrevrangebyscore', Keys.completed, '+inf', since, 'LIMIT', 0, 50)
  for i = 1, #newest do
    if last_queue(newest[i]) == queue then matching = matching + 1 end
  end
  return matching >= 5 and string.format('%.2f', all * matching / #newest * 60 / seconds) or nil
end
