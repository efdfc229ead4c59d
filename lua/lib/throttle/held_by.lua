-- Finds the throttles of which a job holds a slot. Writes nothing.
-- Takes: jid
-- Result: the ids of the throttles
return function(jid)
  local held = {}
  for _, id in ipairs(need('job/tags')(redis.pcall('hget', Keys.job .. jid, 'throttles'))) do
    if type(redis.pcall('zscore', Keys.throttle .. id .. Keys.locks, jid)) == 'string' then held[#held + 1] = id end
  end
  return held
end
