-- Ends jobs of one worker, in order. A job that cannot be ended leaves the others alone.
-- Takes: now; t; seconds; worker; argv; the positions of the jobs in it (ending/positions); the stored settings
--   `max-job-history`, `jobs-history` and `jobs-history-count`
-- Returns: a row per job: outcome, details
-- Publishes: as `complete`, `retry` and `fail`
return function(now, t, seconds, worker, argv, positions, limit, age, most)
  local rows, count = {}, #positions
  if count == 0 then return rows end
  local b = need('ending/batch')(now, t, seconds, worker, limit, age, most)
  -- One command for the usual case: nothing is tracked and no job has dependents.
  local related, ways = {Keys.tracked}, {}
  for i = 1, count do related[i + 1] = Keys.job .. argv[positions[i] + 1] .. Keys.dependents end
  b.any = redis.call('exists', unpack(related)) > 0
  for i = 1, count do
    local at = positions[i]
    local name = argv[at + 3]
    local way = ways[name]
    if not way then
      if name == 'complete' then
        way = need('ending/complete')
      elseif name == 'retry' then
        way = need('ending/retry')
      else
        way = need('ending/fail')
      end
      way = way(b, argv)
      ways[name] = way
    end
    rows[i] = way(argv[at + 1], argv[at + 2], at + 4, at + argv[at])
  end
  b.flush()
  return rows
end
