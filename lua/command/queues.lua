-- Returns the counts of one queue, or of all known queues. Due jobs are promoted first, up to 5000 in a call; further
-- ones count as waiting. The reply to a call without a name has an entry per queue, so its cost grows with their number.
-- Takes: [queue]
local call = redis.call

-- `slice` is what the call may still promote (queue/slice); `promote_all`, the function of that name, is given if the
-- call is about all queues.
local function counts(now, t, queue, paused, slice, promote_all)
  local base = Keys.queue .. queue
  local stalled, recurring, held, late = 0, 0, 0, 0
  local work, locks, scheduled, depends = 0, 0, 0, 0
  -- Of many queues, most may have no jobs: one command shows that.
  if not promote_all or call('exists', base .. Keys.work, base .. Keys.locks, base .. Keys.scheduled,
    base .. Keys.depends, base .. Keys.recur, base .. Keys.throttled) > 0 then
    stalled = call('zcount', base .. Keys.locks, 0, t)
    if call('exists', base .. Keys.recur, base .. Keys.throttled) > 0 then
      recurring, held = call('zcard', base .. Keys.recur), call('zcard', base .. Keys.throttled)
    end
    late = (promote_all or need('queue/promote_all'))(now, t, queue, slice)
    work, locks = call('zcard', base .. Keys.work), call('zcard', base .. Keys.locks)
    scheduled, depends = call('zcard', base .. Keys.scheduled), call('zcard', base .. Keys.depends)
  end
  return '{"name":' .. cjson.encode(queue) .. ',"waiting":' .. work + late .. ',"stalled":' .. stalled ..
    ',"running":' .. locks - stalled .. ',"scheduled":' .. scheduled - late .. ',"depends":' .. depends ..
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
  local is_paused = need('queue/paused')
  for _, name in ipairs(call('smembers', Keys.paused)) do paused[name] = is_paused(now, name) end
  local slice, promote_all = need('queue/slice')(), need('queue/promote_all')
  for i = 1, #names do parts[i] = counts(now, t, names[i], paused[names[i]], slice, promote_all) end
  return '[' .. table.concat(parts, ',') .. ']'
end
