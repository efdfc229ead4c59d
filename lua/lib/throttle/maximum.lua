-- Reads the maximum of a throttle: how many of its jobs may run at the same time. 0 means no limit, a negative maximum
-- lets no job run.
-- Takes: id; the maximum to use if none is set, or nil to use the default: 1 if the id begins with `lock:`, else 0
-- Result: the maximum; true if it is the given one, which the caller then stores
return function(id, given)
  local text = redis.pcall('hget', Keys.throttle .. id, 'maximum')
  local n = type(text) == 'string' and need('value/number')(text)
  if n then return math.floor(n) end
  -- If the key has a wrong type, `text` is an error: use the default then, because the given maximum cannot be stored.
  if given and not text then return given, true end
  return string.sub(id, 1, 5) == 'lock:' and 1 or 0
end
