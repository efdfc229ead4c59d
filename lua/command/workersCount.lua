-- How many workers are listed.
return function()
  return redis.call('zcard', Keys.workers)
end, true
