-- Ends jobs of one worker as guard.finish does, then pops further jobs for the worker.
-- Takes: worker total n (queue count) ..., then jobs as guard.finish takes them. `n` is the number of words for the
--   queues. The call pops at most the count from each queue, and at most `total` and at most 10000 jobs in all. Once it
--   has popped these, it does not touch the further queues
-- Result: the rows of guard.finish, then per queue the reply of pop, or a list with `invalid` and why if pop
--   refuses; if fewer than `total` jobs were popped, then in how many seconds the next one is due, if that is known
-- Refuses: wrong words, more than 500 jobs or queues
-- Publishes: as guard.finish and pop
local function require_whole(text)
  local n = tonumber(text)
  if not n or n % 1 ~= 0 or n < 0 or n > 9e15 then error('Guard(): wrong number: ' .. tostring(text)) end
  return n
end

return function(argv, now, t, seconds)
  local worker = argv[3]
  if not worker then error('Guard(): worker missing') end
  local left, words = math.min(require_whole(argv[4]), 10000), require_whole(argv[5])
  if words % 2 ~= 0 or words > 1000 or 5 + words > #argv then
    error('Guard(): wrong number of words: ' .. argv[5])
  end
  local counts, fields = {}, {'max-job-history', 'jobs-history', 'jobs-history-count', 'heartbeat', 'grace-period'}
  for i = 7, 5 + words, 2 do
    counts[#counts + 1] = require_whole(argv[i])
    fields[#fields + 1] = argv[i - 1] .. '-heartbeat'
    fields[#fields + 1] = argv[i - 1] .. '-max-concurrency'
    fields[#fields + 1] = argv[i - 1] .. '-defaults'
  end
  local config = redis.pcall('hmget', Keys.config, unpack(fields))
  local rows = need('ending/end_jobs')(now, t, seconds, argv, 6 + words, config)
  -- The replies of pop go into the list of the rows: the server needs a microsecond for each further list in a reply.
  local ended, pop = #rows, counts[1] and need('pop', true)
  -- What the pops share: settings that were read, whether the worker is `listed` yet, and the search `budget`.
  local known = {false, config[4], false, config[5], config[1], listed = false, budget = need('queue/call_budget')()}
  for i = 1, #counts do
    local reply, taken = '{}', 0
    local count = math.min(left, counts[i])
    if count > 0 then
      known[1], known[3], known[6] = config[3 + 3 * i], config[4 + 3 * i], config[5 + 3 * i]
      local ok
      ok, reply, taken = pcall(pop, {'pop', t, argv[4 + 2 * i], worker, count}, now, t, seconds, known)
      if not ok then
        -- An error would hide the jobs that this call has ended or popped: put the refusal into this pop's reply.
        if ended == 0 and i == 1 then error(reply, 0) end
        need('value/raise_write_refusal')(reply)
        reply, taken = {'invalid', need('value/error_text')(reply)}, 0
      end
    end
    rows[ended + i], left = reply, left - (taken or 0)
  end
  -- If a pop ended its search at the limit, say that a job is due now, so that the next pop continues the search.
  local due = left > 0 and known.budget.unfinished and now
  for i = 1, not due and left > 0 and #counts or 0 do
    -- Look only for times after now: the pops have seen all jobs that are due already.
    local at = need('queue/next_due')(now, argv[4 + 2 * i], '(' .. t)
    if at and at > now and (not due or at < due) then due = at end
  end
  if due then rows[#rows + 1] = string.format('%.3f', due - now + 0.001) end
  return rows
end
