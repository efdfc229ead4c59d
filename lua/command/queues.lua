-- The numbers of jobs by state in one queue, or in each known queue, as JSON. Due jobs are promoted first, up to
-- 5000 in a call; further ones count as waiting. The cost of a call about all queues grows with their number.
-- Takes: [queue]
local call = redis.call

-- `budget` limits what the call may still promote (queue/call_budget). `promote_all` is the function
-- queue/promote_all.
local function counts(now, t, queue, paused, budget, promote_all)
  local base = Keys.queue .. queue
  local stalled = call('zcount', base .. Keys.locks, 0, t)
  local recurring, held = 0, 0
  if call('exists', base .. Keys.recur, base .. Keys.throttled) > 0 then
    recurring, held = call('zcard', base .. Keys.recur), call('zcard', base .. Keys.throttled)
  end
  local late = promote_all(now, t, queue, budget)
  return '{"name":' .. cjson.encode(queue) .. ',"waiting":' .. call('zcard', base .. Keys.work) + late ..
    ',"stalled":' ..
    stalled .. ',"running":' .. call('zcard', base .. Keys.locks) - stalled .. ',"scheduled":' ..
    call('zcard', base .. Keys.scheduled) - late .. ',"depends":' .. call('zcard', base .. Keys.depends) ..
    ',"recurring":' .. recurring .. ',"paused":' .. (paused and 'true' or 'false') ..
    (held > 0 and ',"throttled":' .. held .. '}' or '}')
end

return function(argv, now, t)
  local queue, budget, promote_all = argv[3], need('queue/call_budget')(), need('queue/promote_all')
  if queue then
    local paused = call('sismember', Keys.paused, queue) == 1 and need('queue/paused')(now, queue)
    return counts(now, t, queue, paused, budget, promote_all)
  end
  local names, paused, parts = call('zrange', Keys.queues, 0, -1), {}, {}
  if not names[1] then return '{}' end
  local listed = call('smembers', Keys.paused)
  -- Only a pause with a document in `ql:pauses` can end by itself. Test the ends only if there are documents.
  local still_paused = listed[1] and call('exists', Keys.pauses) == 1 and need('queue/paused')
  for _, name in ipairs(listed) do paused[name] = not still_paused or still_paused(now, name) end
  for i = 1, #names do parts[i] = counts(now, t, names[i], paused[names[i]], budget, promote_all) end
  return '[' .. table.concat(parts, ',') .. ']'
end
