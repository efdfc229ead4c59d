-- The facts of a queue in `look.queues`: its counts, its pause, and since when the next job to pop has waited (`head`).
-- Takes: now; queue; queue/counts; whether `ql:queues` lists the queue, nil if the caller has not read that; whether to
--   leave out counts of 0 and what does not apply
-- Result: name, value, ...
local arrival_of = need('queue/arrival')
local call, texts = redis.call, need('value/texts')()
-- Whether any queue is paused. Usually none is: then no queue has to be looked up.
local some_paused = call('exists', Keys.paused) == 1

-- The document of a pause that has not ended, as text and decoded. Nil if the queue is not paused.
local function read_pause(now, queue)
  if not some_paused or call('sismember', Keys.paused, queue) == 0 then return nil end
  local text = call('hget', Keys.pauses, queue)
  local ok, pause = pcall(cjson.decode, text or '')
  if not ok or type(pause) ~= 'table' then return text, {} end
  local till = tonumber(pause['until'])
  if till and till <= now then return nil end
  return text, pause
end

-- Adds a count to a row unless it is 0.
local function add(row, name, count)
  if count == 0 then return end
  local size = #row
  row[size + 1], row[size + 2] = name, texts[count]
end

return function(now, queue, counts, known, brief)
  local head = counts.head
  if not head and counts.due > 0 then
    -- A due job of the schedule waits since it is due.
    local due = call('zrange', Keys.queue .. queue .. Keys.scheduled, '0', '0', 'WITHSCORES')
    local since = tonumber(due[2])
    if not since or since <= 0 then since = arrival_of(now, nil, nil, due[1]) end
    head = since and string.format('%.3f', since)
  end
  local text, pause = read_pause(now, queue)
  known = (known or call('zscore', Keys.queues, queue)) and '1' or '0'
  local waiting = counts.work - counts.taken + counts.due
  local row
  -- Create the table with all its values in one expression, so that Lua need not enlarge it.
  if not brief then
    row = {
      'name', queue,
      'known', known,
      'running', texts[counts.locked - counts.lapsed],
      'stalled', texts[counts.lapsed + counts.taken],
      'waiting', texts[waiting],
      'scheduled', texts[counts.scheduled - counts.due],
      'depends', texts[counts.depends],
      'throttled', texts[counts.throttled],
      'recurring', texts[counts.recurring],
      'paused', pause and '1' or '0',
      'head', head or false,
    }
  else
    row = head and {'name', queue, 'known', known, 'waiting', texts[waiting], 'head', head}
      or {'name', queue, 'known', known}
    if not head then add(row, 'waiting', waiting) end
    add(row, 'running', counts.locked - counts.lapsed)
    add(row, 'stalled', counts.lapsed + counts.taken)
    add(row, 'scheduled', counts.scheduled - counts.due)
    add(row, 'depends', counts.depends)
    add(row, 'throttled', counts.throttled)
    add(row, 'recurring', counts.recurring)
    if pause then add(row, 'paused', 1) end
  end
  if not pause then return row end
  for _, name in ipairs({'since', 'until', 'reason', 'by'}) do
    local value = pause[name]
    -- Take a number from the undecoded text, because decoding leaves only 14 digits.
    if type(value) == 'number' then value = string.match(text, '"' .. name .. '":(-?[%d.eE+]+)') or '' .. value end
    if type(value) == 'string' then row[#row + 1], row[#row + 2] = name, value end
  end
  return row
end
