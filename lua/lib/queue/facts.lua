-- Reads the facts about a queue that `look.status` reports in addition to its counts: the numbers of today, since when
-- its oldest job waits or runs, and what prevents jobs from running.
-- Takes: now; t; queue; queue/counts of today; whether to add how long jobs waited and ran, and since when the oldest
--   job runs
-- Result: name, value, ..., without facts that do not apply and counts of 0
local call, pcall = redis.call, redis.pcall
local oldest, urgent = need('queue/oldest'), need('queue/urgent')

-- Returns the earliest pop time of the four running jobs of a queue whose locks expire first, as text; false if there
-- are none.
local function oldest_running(base, lapsed)
  local first
  local locked = call('zrange', base .. Keys.locks, lapsed, lapsed + 3)
  for i = 1, #locked do
    local popped = tonumber(pcall('hget', Keys.job .. locked[i], 'time') or nil)
    if popped and (not first or popped < first) then first = popped end
  end
  return first and string.format('%.3f', first) or false
end

-- Returns the fields (job/holder) of the running job for which the oldest job waits: the first job of its lane, the
-- oldest holder of a slot of its throttle, or, if the queue is at its limit, the job whose lock expires first. False or
-- nil if that job does not run.
local function find_holder(base, now, t, why, by)
  local first
  if by then
    first = pcall('zrange', why == 'ordered' and Keys.lane .. by or Keys.throttle .. by .. Keys.locks, 0, 0)
  elseif why == 'limited' then
    first = call('zrangebyscore', base .. Keys.locks, t, '+inf', 'LIMIT', 0, 1)
  end
  local holder = first and first[1] and need('job/holder')(now, first[1])
  return holder and holder[4] == 'running' and holder
end

-- Adds a name and a value to a row.
local function add(row, name, value)
  local size = #row
  row[size + 1], row[size + 2] = name, value or false
end

local function add_count(row, name, count)
  if count and count ~= '0' then add(row, name, count) end
end

return function(now, t, queue, counts, with_durations)
  local base = Keys.queue .. queue
  local waits, jid, why, by = oldest(now, t, queue, counts)
  -- Write the first values in the table constructor: this is faster than to add them one by one.
  local row = waits and {'since', waits, 'jid', jid, 'why', why} or {}
  add_count(row, 'popped', counts.popped)
  add_count(row, 'completed', counts.completed)
  add_count(row, 'failures', counts.failures)
  add_count(row, 'retries', counts.retries)
  if waits then
    if by then add(row, 'held_by', by) end
    local holder = find_holder(base, now, t, why, by)
    if holder then
      add(row, 'holder', holder[1])
      add(row, 'holder_worker', holder[5])
      add(row, 'holder_seen', holder[6])
    end
  end
  local due = counts.recurring > 0
    and call('zrangebyscore', base .. Keys.recur, 0, t, 'WITHSCORES', 'LIMIT', 0, 1)[2]
  if due then
    add(row, 'late', '' .. call('zcount', base .. Keys.recur, 0, t))
    add(row, 'due', due)
  end
  local throttle = why == 'throttled' and by
  if throttle or counts.throttled > 0 or counts.lapsed > 0 then
    local blocked, waiting, lanes = urgent(now, queue, throttle, counts)
    if blocked then
      add(row, 'throttle', blocked)
      if waiting then add(row, 'waiting', '' .. waiting) end
    end
    if lanes[1] then add(row, 'lanes', lanes) end
  end
  if with_durations then
    if counts.waits then add(row, 'wait', counts.waits) end
    if counts.runs then add(row, 'run', counts.runs) end
    if counts.locked > counts.lapsed then add(row, 'running_since', oldest_running(base, counts.lapsed)) end
  end
  return row
end
