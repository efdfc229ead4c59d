-- Removes jobs that are no longer failed from the list of failure times. qless-php deletes every job of that list at
-- a certain age, whatever the state of the job is by then. A key of another type names no job.
-- Takes: jids
return function(jids)
  pcall(need('value/in_chunks'), 'zrem', Keys.failed_times, jids, 1, #jids)
end
