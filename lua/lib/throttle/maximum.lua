-- Finds how many jobs may run at once under a throttle: 0 is no limit, below 0 no job runs.
-- Takes: id; the maximum if none is set, or nil for the default: 1 for the lock of a lane, else 0
-- Result: the maximum; whether it is the given maximum
return function(id, given)
  local text = redis.pcall('hget', Keys.throttle .. id, 'maximum')
  local n = type(text) == 'string' and need('value/number')(text)
  if n then return math.floor(n) end
  -- The caller writes the given maximum: not if the key is of another type, whose error stands in `text`.
  if given and not text then return given, true end
  return string.sub(id, 1, 5) == 'lock:' and 1 or 0
end
