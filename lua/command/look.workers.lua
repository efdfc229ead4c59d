-- Returns when workers were last seen and how many jobs they hold. Writes nothing.
-- Takes: [worker ...]; without names all known workers that were seen recently, newest first
-- Returns: per worker: name, value, ...
return function(argv, now, t)
  local call = redis.call
  local workers = need('value/args_from')(argv, 3)
  if not workers[1] then
    local age = need('value/number')(redis.pcall('hget', Keys.config, 'max-worker-age')) or 86400
    -- `workers` forgets the workers in [0, now - age]. It leaves those below 0 alone.
    workers = call('zrevrangebyscore', Keys.workers, '+inf', string.format('(%.17g', math.max(now - age, -1)))
  end
  local reply = {}
  for i = 1, #workers do
    local held = Keys.worker .. workers[i] .. Keys.held
    reply[i] = {
      'name', workers[i],
      'seen', call('zscore', Keys.workers, workers[i]),
      'running', '' .. call('zcount', held, '(' .. t, '+inf'),
      'stalled', '' .. call('zcount', held, '-inf', t),
    }
  end
  return reply
end
