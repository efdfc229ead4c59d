-- Returns the counts of one queue, or of all known queues. Due jobs are promoted first, up to 5000 in a call; further
-- ones count as waiting.
-- Takes: [queue]
local call = redis.call

-- `slice` is what the call may still promote (queue/slice).
local function counts(now, t, queue, paused, slice)
  local base = Keys.queue .. queue
  local stalled = call('zcount', base .. Keys.locks, 0, t)
  local recurring, held = 0, 0
  if call('exists', base .. Keys.recur, base .. Keys.throttled) > 0 then
    recurring, held = call('zcard', base .. Keys.recur), call('zcard', base .. Keys.throttled)
  end
  local late = need('queue/promote_all')(now, t, queue, slice)
  return '{"name":' .. cjson.encode(queue) .. ',"waiting":' .. call('zcard', base .. Keys.work) + late ..
    ',"stalled":' ..
    stalled .. ',"running":' .. call('zcard', base .. Keys.locks) - stalled .. ',"scheduled":' ..
    call('zcard', base .. Keys.scheduled) - late .. ',"depends":' .. call('zcard', base .. Keys.depends) ..
    ',"recurring":' .. recurring .. ',"paused":' .. (paused and 'true' or 'false') ..
    (held > 0 and ',"throttled":' .. held .. '}' or '}')
end

return function(argv, now, t)
  local queue = argv[3]
  if queue then
    local paused = call('sismember', Keys.paused, queue) == 1 and need('queue/paused')(now, queue)
    return counts(now, t, queue, paused, need('queue/slice')())
  end
  local names, paused, parts = call('zrange', Keys.queues, 0, -1), {}, {}
  if not names[1] then return '{}' end
  for _, name in ipairs(call('smembers', Keys.paused)) do paused[name] = need('queue/paused')(now, name) end
  local slice = need('queue/slice')()
  for i = 1, #names do parts[i] = counts(now, t, names[i], paused[names[i]], slice) end
  return '[' .. table.concat(parts, ',') .. ']'
end
