-- Reads the facts about a worker that `look.workers` reports: when it was seen and how many jobs it holds. If it holds
-- locks and was not seen for a minute, also when the last of these locks expires. Writes nothing.
-- Takes: t; worker; when it was last seen, as text or nil; whether it counts as seen lately (worker/recent_since)
-- Result: name, value, ...
local call, texts = redis.call, need('value/texts')()

return function(t, worker, seen, recent)
  local held = Keys.worker .. worker .. Keys.held
  local jobs = call('zcard', held)
  -- ZCOUNT is cheap here: usually no lock has expired, so that it counts nothing.
  local stalled = jobs > 0 and call('zcount', held, '-inf', t) or 0
  local row = {
    'name', worker,
    'seen', seen,
    'recent', recent and '1' or '0',
    'running', texts[jobs - stalled],
    'stalled', texts[stalled],
  }
  if jobs > stalled and seen and t - seen > 60 then
    row[11], row[12] = 'locked_until', call('zrevrange', held, 0, 0, 'WITHSCORES')[2]
  end
  return row
end
