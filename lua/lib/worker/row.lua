-- What `look.workers` tells of a worker. Writes nothing.
-- Takes: t; worker; when it was last seen, as text, or nil; whether that is lately
-- Result: name, value, ...
local call, texts = redis.call, need('value/texts')()

return function(t, worker, seen, recent)
  local held = Keys.worker .. worker .. Keys.held
  local jobs = call('zcard', held)
  -- Counting ends early if no lock has expired.
  local stalled = jobs > 0 and call('zcount', held, '-inf', t) or 0
  return {
    'name', worker,
    'seen', seen,
    'recent', recent and '1' or '0',
    'running', texts[jobs - stalled],
    'stalled', texts[stalled],
  }
end
