-- The jids of tracked jobs as a JSON array, in the order in which they were tracked; `{}` if there are none.
return function()
  return cjson.encode(redis.call('zrange', Keys.tracked, 0, -1))
end, true
