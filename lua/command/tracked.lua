-- Lists the jids of tracked jobs as a JSON array, the first tracked one first; `{}` if there are none.
return function()
  return cjson.encode(redis.call('zrange', Keys.tracked, 0, -1))
end, true
