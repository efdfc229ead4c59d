-- Completes, retries or fails jobs that one worker holds, each as the command with these words does.
-- Takes: worker, then per job: the number of its words, jid queue, then
--   `complete data [next q] [delay s] [depends json]`, `retry delay [group [message [exit]]]` or
--   `fail group message [data]`; empty data keeps the data of the job
-- Result: per job outcome and details: `done` (the new state; for `retry` the remaining tries), `gone`,
--   `not_holder` (state, worker), `invalid` (why)
-- Refuses: wrong words, more than 500 jobs
-- Publishes: as `complete`, `retry` and `fail`
return function(argv, now, t, seconds)
  if not argv[3] then error('Guard(): worker missing') end
  local config = redis.pcall('hmget', Keys.config, 'max-job-history', 'jobs-history', 'jobs-history-count')
  return need('ending/end_jobs')(now, t, seconds, argv, 4, config)
end
