-- What `look.status` tells of a queue beside its counts: what happened today, since when its oldest job waits or runs,
-- and what keeps jobs from running.
-- Takes: now; t; queue; queue/counts; whether to read also how long jobs waited and ran today, and since when the
--   oldest runs
-- Result: name, value, ..., without what does not apply and counts of 0
local call, pcall = redis.call, redis.pcall
local Today = Fields('failures', 'retries')
local oldest, urgent = need('queue/oldest'), need('queue/urgent')

-- Since when the job of a queue runs that was popped first, of the four whose locks expire first.
local function oldest_running(base, lapsed)
  local first
  local locked = call('zrange', base .. Keys.locks, lapsed, lapsed + 3)
  for i = 1, #locked do
    local popped = tonumber(pcall('hget', Keys.job .. locked[i], 'time') or nil)
    if popped and (not first or popped < first) then first = popped end
  end
  return first and string.format('%.3f', first) or false
end

-- All fields of a hash of statistics, and the number of its jobs. A key of another type counts as an empty hash.
local function read_spread(key)
  local fields = pcall('hgetall', key)
  if fields.err then return {}, '0' end
  for i = 1, #fields, 2 do
    if fields[i] == 'total' then return fields, fields[i + 1] end
  end
  return fields, '0'
end

-- The same result without the fields, for one cheaper command.
local function read_total(key)
  local total = pcall('hget', key, 'total')
  return false, type(total) == 'string' and total or '0'
end

-- Adds a name and a value to a row.
local function add(row, name, value)
  local size = #row
  row[size + 1], row[size + 2] = name, value or false
end

local function add_count(row, name, count)
  if count and count ~= '0' then add(row, name, count) end
end

return function(now, t, queue, counts, spreads)
  local base, key = Keys.queue .. queue, now - now % 86400 .. ':' .. queue
  local waits, jid, why, by = oldest(now, t, queue, counts)
  local read = spreads and read_spread or read_total
  local wait, popped = read(Keys.wait .. key)
  local run, completed = read(Keys.run .. key)
  local today = pcall('hmget', Keys.stats .. key, unpack(Today))
  local row = {}
  add_count(row, 'popped', popped)
  add_count(row, 'completed', completed)
  add_count(row, 'failures', today[Today.failures])
  add_count(row, 'retries', today[Today.retries])
  if waits then
    add(row, 'since', waits)
    add(row, 'jid', jid)
    add(row, 'why', why)
    add(row, 'held_by', by)
  end
  local due = counts.recurring > 0
    and call('zrangebyscore', base .. Keys.recur, 0, t, 'WITHSCORES', 'LIMIT', 0, 1)[2]
  if due then
    add(row, 'late', '' .. call('zcount', base .. Keys.recur, 0, t))
    add(row, 'due', due)
  end
  local throttle = why == 'throttled' and by
  if throttle or counts.throttled > 0 or counts.lapsed > 0 then
    local blocked, waiting, stuck, first_of_lane, worker = urgent(now, queue, throttle, counts)
    if blocked then
      add(row, 'throttle', blocked)
      if waiting then add(row, 'waiting', '' .. waiting) end
    end
    if stuck then
      add(row, 'lane', stuck)
      add(row, 'first', first_of_lane)
      add(row, 'worker', worker)
    end
  end
  if spreads then
    add(row, 'wait', wait)
    add(row, 'run', run)
    if counts.locked > counts.lapsed then add(row, 'running_since', oldest_running(base, counts.lapsed)) end
  end
  return row
end
