-- What `look.queues` tells of a queue: its counts, its pause, and since when the next job to pop has waited (`head`).
-- Takes: now; queue; queue/counts; whether the queue is known for one of `ql:queues`, if that was read
-- Result: name, value, ...
local arrival_of = need('queue/arrival')
local call, texts = redis.call, need('value/texts')()
-- One command for the usual case.
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

return function(now, queue, counts, known)
  local head, score = counts.first[1], tonumber(counts.first[2] or nil)
  if not head and counts.due > 0 then
    head = call('zrange', Keys.queue .. queue .. Keys.scheduled, 0, 0)[1]
  end
  local since = head and arrival_of(now, head, score)
  local text, pause = read_pause(now, queue)
  local row = {
    'name', queue,
    'known', (known or call('zscore', Keys.queues, queue)) and '1' or '0',
    'running', texts[counts.locked - counts.lapsed],
    'stalled', texts[counts.lapsed + counts.taken],
    'waiting', texts[counts.work - counts.taken + counts.due],
    'scheduled', texts[counts.scheduled - counts.due],
    'depends', texts[counts.depends],
    'throttled', texts[counts.throttled],
    'recurring', texts[counts.recurring],
    'paused', pause and '1' or '0',
    'head', since and string.format('%.3f', since) or false,
  }
  for _, name in ipairs(pause and {'since', 'until', 'reason', 'by'} or {}) do
    local value = pause[name]
    -- A number as it is stored: decoding would leave 14 digits.
    if type(value) == 'number' then value = string.match(text, '"' .. name .. '":(-?[%d.eE+]+)') or '' .. value end
    if type(value) == 'string' then row[#row + 1], row[#row + 2] = name, value end
  end
  return row
end
