-- How many entries the sets of a queue have and, if asked for a day, what happened in it on that day. Writes nothing.
-- Takes: now; t; queue; [the start of a day, as text]; whether to read also how long jobs waited and ran on that day
-- Result: `locked`, of them `lapsed` by expiry; `work`, of them `taken` back from a worker; `scheduled`, of them `due`;
--   `depends`, `throttled`, `recurring`. Of the first entry of `work`: `first`, its jid; its `score`. `since` when the
--   first job waits whose entry has a time, and that as text, `head`. Of the day, as text or false: `popped`,
--   `completed`, `failures`, `retries`; `waits` and `runs`, all fields of its hashes of statistics
local call, pcall, arrival_of = redis.call, redis.pcall, need('queue/arrival')
local Day = Fields('failures', 'retries')
-- How many of the queue's keys exist and are still unread. At 0 no further command is needed, as in an idle queue.
local left

local function size_of(key)
  if left == 0 then return 0 end
  local size = call('zcard', key)
  if size > 0 then left = left - 1 end
  return size
end

-- The number of jobs of a hash of statistics, and if asked for, its fields. A key of another type counts as empty.
local function read_statistics(key, spreads)
  if left == 0 then return false, false end
  local total, fields = false, false
  if spreads then
    fields = pcall('hgetall', key)
    if fields.err then return false, false end
    for i = 1, #fields, 2 do
      if fields[i] == 'total' then total = fields[i + 1] end
    end
  else
    total = pcall('hget', key, 'total')
    if type(total) ~= 'string' then return false, false end
  end
  if total then left = left - 1 end
  return total, fields
end

-- Since when the first job behind the first entry of the work set waits. Entries without a time are skipped: most of
-- them have no job, and a pop skips these, too.
local function arrival_behind_first(now, waiting)
  local entries = call('zrevrange', waiting, '1', '10', 'WITHSCORES')
  for i = 1, #entries, 2 do
    local since = arrival_of(now, tonumber(entries[i + 1]), nil, entries[i])
    if since then return since end
  end
end

return function(now, t, queue, day, spreads)
  local base = Keys.queue .. queue
  local waiting, locks, timed = base .. Keys.work, base .. Keys.locks, base .. Keys.scheduled
  local depends, throttled, recur = base .. Keys.depends, base .. Keys.throttled, base .. Keys.recur
  local popped, waits, completed, runs, values
  if day then
    local key = day .. ':' .. queue
    local wait, run, stats = Keys.wait .. key, Keys.run .. key, Keys.stats .. key
    left = call('exists', wait, run, stats, locks, timed, depends, throttled, recur)
    popped, waits = read_statistics(wait, spreads)
    completed, runs = read_statistics(run, spreads)
    values = left > 0 and pcall('hmget', stats, unpack(Day))
    if values and (values[Day.failures] or values[Day.retries]) then left = left - 1 end
  else
    left = call('exists', locks, timed, depends, throttled, recur)
  end
  local locked, scheduled, work = size_of(locks), size_of(timed), call('zcard', waiting)
  local first, score, since
  if work > 0 then
    local entry = call('zrevrange', waiting, '0', '0', 'WITHSCORES')
    first, score = entry[1], tonumber(entry[2])
    since = arrival_of(now, score, nil, first)
    if not since and work > 1 then since = arrival_behind_first(now, waiting) end
  end
  return {
    locked = locked,
    work = work,
    scheduled = scheduled,
    depends = size_of(depends),
    throttled = size_of(throttled),
    recurring = size_of(recur),
    first = first,
    score = score,
    since = since,
    head = since and string.format('%.3f', since),
    -- ZCOUNT may read each entry of a small set, but ends early if none is between the scores.
    lapsed = locked > 0 and call('zcount', locks, '-inf', t) or 0,
    taken = score == math.huge and call('zcount', waiting, '+inf', '+inf') or 0,
    due = scheduled > 0 and call('zcount', timed, '-inf', t) or 0,
    popped = popped,
    completed = completed,
    failures = values and values[Day.failures],
    retries = values and values[Day.retries],
    waits = waits,
    runs = runs,
  }
end
