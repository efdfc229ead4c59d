-- Removes names from the list of workers. Their jobs stay theirs.
-- Takes: worker ...
return function(argv)
  local workers = need('value/args_from')(argv, 3)
  if not workers[1] then redis.call('zrem', Keys.workers) end
  need('value/in_chunks')('zrem', Keys.workers, workers, 1, #workers)
end, true
