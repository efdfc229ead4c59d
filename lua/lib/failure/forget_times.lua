-- Removes jobs that stop being failed from the list of times. qless-php deletes every job of that list at a certain
-- age, whatever the job does by then. A key of another type names no job.
-- Takes: jids
return function(jids)
  pcall(need('value/in_chunks'), 'zrem', Keys.failed_times, jids, 1, #jids)
end
