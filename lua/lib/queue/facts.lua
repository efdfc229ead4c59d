-- What `look.status` tells of a queue beside its counts: what happened today, since when its oldest job waits or runs,
-- and what keeps jobs from running.
-- Takes: now; t; queue; queue/counts; whether to read also how long jobs waited and ran today, and since when the
--   oldest runs
-- Result: name, value, ..., without what does not apply
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

-- Adds names and values to a row.
local function add(row, ...)
  local size, more = #row, {...}
  for i = 1, select('#', ...) do row[size + i] = more[i] end
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

return function(now, t, queue, counts, spreads)
  local base, key = Keys.queue .. queue, now - now % 86400 .. ':' .. queue
  local waits, jid, why, by = oldest(now, t, queue, counts)
  local read = spreads and read_spread or read_total
  local wait, popped = read(Keys.wait .. key)
  local run, completed = read(Keys.run .. key)
  local today = pcall('hmget', Keys.stats .. key, unpack(Today))
  local row = {
    'name', queue,
    'popped', popped,
    'completed', completed,
    'failures', today[Today.failures] or '0',
    'retries', today[Today.retries] or '0',
    'since', waits or false,
    'jid', jid or false,
    'why', why or false,
    'held_by', by or false,
  }
  local due = counts.recurring > 0
    and call('zrangebyscore', base .. Keys.recur, 0, t, 'WITHSCORES', 'LIMIT', 0, 1)[2]
  if due then add(row, 'late', '' .. call('zcount', base .. Keys.recur, 0, t), 'due', due) end
  local throttle = why == 'throttled' and by
  if throttle or counts.throttled > 0 or counts.lapsed > 0 then
    local blocked, waiting, stuck, first_of_lane, worker = urgent(now, queue, throttle, counts)
    if blocked then add(row, 'throttle', blocked, 'waiting', waiting and '' .. waiting) end
    if stuck then add(row, 'lane', stuck, 'first', first_of_lane, 'worker', worker) end
  end
  if spreads then
    add(row, 'wait', wait, 'run', run)
    if counts.locked > counts.lapsed then add(row, 'running_since', oldest_running(base, counts.lapsed)) end
  end
  return row
end
