-- What `look.workers` tells of a worker. Writes nothing.
-- Takes: t; worker; when it was last seen, as text, or nil; whether that is lately
-- Result: name, value, ...
return function(t, worker, seen, recent)
  local call, held = redis.call, Keys.worker .. worker .. Keys.held
  local jobs = call('zcard', held)
  -- Counting ends early if no lock has expired.
  local stalled = jobs > 0 and call('zcount', held, '-inf', t) or 0
  return {
    'name', worker,
    'seen', seen,
    'recent', recent and '1' or '0',
    'running', '' .. jobs - stalled,
    'stalled', '' .. stalled,
  }
end
