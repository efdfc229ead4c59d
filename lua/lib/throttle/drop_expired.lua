-- Removes up to three throttles whose maximum has expired from the list of throttles. Redis deletes an expired
-- maximum, but not its entry in the list. So each call that sets a maximum with an expiry checks three entries, at
-- a position that changes with each call. On average, at most a third of the entries has expired.
-- Takes: t; id
return function(t, id)
  local pcall = redis.pcall
  local count = pcall('zcard', Keys.throttles)
  -- A key of another type counts as an empty list.
  if type(count) ~= 'number' or count == 0 then return end
  local from = tonumber(string.sub(redis.sha1hex(t .. id), 1, 8), 16) % count
  local page = pcall('zrange', Keys.throttles, from, from + 2)
  for i = 1, #page do
    if pcall('hget', Keys.throttle .. page[i], 'maximum') == false then pcall('zrem', Keys.throttles, page[i]) end
  end
end
