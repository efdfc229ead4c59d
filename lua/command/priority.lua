-- priority: jid priority
-- Gives a job another priority; a waiting one keeps its place among equals, a stalled one stays
-- in front. Answers the priority.
return function(argv)
  local call = redis.call
  local jid, priority = argv[3], tonumber(argv[4])
  if not jid then error('Job(): no jid provided') end
  if not priority or priority - priority ~= 0 then
    error('Priority(): Arg "priority" missing or not a number: ' .. tostring(argv[4]))
  end
  local key = Keys.job .. jid
  local job = call('hmget', key, 'queue', 'priority', 'state')
  if not job[1] then error('Priority(): Job ' .. jid .. ' does not exist') end
  if job[3] == 'waiting' or job[3] == 'stalled' then
    local before = tonumber(job[2])
    local work = Keys.queue .. job[1] .. Keys.work
    -- The time part of the score is lost among numbers beyond 2^53.
    if before and math.abs(before) < 9e15 and math.abs(priority) < 9e15 then
      call('zadd', work, 'XX', 'INCR', priority - before, jid)
    else
      call('zadd', work, 'XX', priority, jid)
    end
  end
  call('hset', key, 'priority', priority)
  return priority
end, true
