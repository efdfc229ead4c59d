-- worker.deregister: worker ...
-- Takes names off the list of workers; what they hold stays theirs.
return function(argv)
  local workers = need('words')(argv, 3)
  if not workers[1] then redis.call('zrem', Keys.workers) end
  need('many')('zrem', Keys.workers, workers, 1, #workers)
end, true
