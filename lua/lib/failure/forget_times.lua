-- Removes jobs that stop being failed from the list of times. qless-php deletes every job of that list in time,
-- whatever the job does by then.
-- Takes: jids
return function(jids)
  -- A key of another type names no job.
  if redis.pcall('zcard', Keys.failed_times) == 0 then return end
  pcall(need('value/in_chunks'), 'zrem', Keys.failed_times, jids, 1, #jids)
end
