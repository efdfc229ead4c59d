-- Ends jobs of one worker, in order. A job that cannot be ended leaves the others alone.
-- Takes: now; t; seconds; argv, which begins with command, time and worker; the position of the first job in it; a list
--   that begins with the stored settings `max-job-history`, `jobs-history` and `jobs-history-count`
-- Result: a row per job: outcome, details
-- Publishes: as `complete`, `retry` and `fail`
return function(now, t, seconds, argv, first, settings)
  if not argv[first] then return {} end
  local call, count, worker = redis.pcall, #argv, argv[3]
  -- Run a single `complete` as the command itself, which costs least. It is the usual call of a worker with one job at
  -- a time.
  if count == first + 4 and argv[first] == '4' and argv[first + 3] == 'complete'
    and type(call('zcard', Keys.worker .. worker .. Keys.held)) == 'number'
    and type(call('zcard', Keys.queue .. argv[first + 2] .. Keys.locks)) == 'number'
    and type(call('zcard', Keys.completed)) == 'number' then
    local complete = need('complete', true)
    local words = {'complete', t, argv[first + 1], worker, argv[first + 2], argv[count]}
    local ok, state = pcall(complete, words, now, t, seconds, settings)
    -- If `complete` refuses the ending, nothing was changed: the code below then finds the reason.
    if ok then return {{'done', state}} end
  end
  local positions = need('ending/positions')(argv, first)
  count = #positions
  local batch = need('ending/batch')(now, t, seconds, worker, settings)
  -- Usually no job is tracked and none of these has dependents: one EXISTS finds that out.
  local related, ways, rows = {Keys.tracked}, {}, {}
  for i = 1, count do related[i + 1] = Keys.job .. argv[positions[i] + 1] .. Keys.dependents end
  batch.any_related = redis.call('exists', unpack(related)) > 0
  local i = 0
  local function end_rest()
    while i < count do
      i = i + 1
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
        way = way(batch, argv)
        ways[name] = way
      end
      rows[i] = way(argv[at + 1], argv[at + 2], at + 4, at + argv[at])
    end
  end
  -- Catch the error of one job and make it the outcome of this job. If it were raised, the endings before it would be
  -- left half done.
  repeat
    local ok, why = pcall(end_rest)
    if not ok then
      if not batch.wrote then error(why, 0) end
      rows[i] = batch.invalid(why)
    end
  until ok
  batch.flush()
  return rows
end
