-- Drops up to three throttles whose maximum has expired from the list of throttles. Redis removes such a maximum by
-- itself, so each call that sets one with an expiry looks at three entries of the list, and the next call at three
-- others. On average a third of the list at most is expired.
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
