-- Returns how many jobs may run at once under a throttle: 0 for any number, less for none.
-- Takes: id
return function(id)
  local text = redis.pcall('hget', Keys.throttle .. id, 'maximum')
  local n = type(text) == 'string' and need('value/number')(text)
  if n then return math.floor(n) end
  return string.sub(id, 1, 5) == 'lock:' and 1 or 0
end
