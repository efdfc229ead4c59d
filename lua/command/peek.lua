-- The next jobs that a pop would return, at most 10000, as a JSON array (`{}` if there are none). A paused
-- queue shows its jobs, and an expired pause is deleted. Due jobs are promoted, as in pop; nothing else changes.
-- Takes: queue count
-- Refuses: a count that is not an integer
return function(argv, now, t)
  local call = redis.call
  local queue, count = argv[3], tonumber(argv[4])
  if not queue then error('Queue(): no queue name provided') end
  if not count or count - count ~= 0 then
    error('Peek(): Arg "count" missing or not a number: ' .. tostring(argv[4]))
  end
  if count % 1 ~= 0 or count > 9e15 or count < -9e15 then need('value/integer')(count) end
  if call('sismember', Keys.paused, queue) == 1 then need('queue/paused')(now, queue) end
  if count == 0 then return '{}' end
  if count < 0 or count > 10000 then count = need('queue/clamp_count')(t, queue, count) end
  local base = Keys.queue .. queue
  local jids = call('zrangebyscore', base .. Keys.locks, '-inf', t, 'LIMIT', 0, count)
  local rest = count - #jids
  if rest ~= 0 then
    need('queue/due')(now, t, queue, rest, need('queue/call_budget')())
    local waiting = call('zrevrange', base .. Keys.work, 0, rest - 1)
    for i = 1, #waiting do jids[#jids + 1] = waiting[i] end
  end
  return need('job/render_existing')(jids)
end
