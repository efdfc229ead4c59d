-- Removes names from the list of workers. The workers keep their jobs.
-- Takes: worker ...
-- Result: nothing; in the script for qless-php, how many names were removed
return function(argv)
  local workers = need('value/args_from')(argv, 3)
  if not workers[1] then redis.call('zrem', Keys.workers) end
  local removed = need('value/in_chunks')('zrem', Keys.workers, workers, 1, #workers)
  if php then return removed end
end, true
