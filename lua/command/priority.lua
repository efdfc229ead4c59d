-- Changes the priority of a job. Among jobs of one priority, a waiting job is still ordered by its time. A stalled job
-- stays first.
-- Takes: jid priority
-- Result: the priority
-- Refuses: a missing job, a priority that is not a number
local Job = Fields('queue', 'priority', 'state')

return function(argv)
  local call = redis.call
  local jid, priority = argv[3], tonumber(argv[4])
  if not jid then error('Job(): no jid provided') end
  if not priority or priority - priority ~= 0 then
    error('Priority(): Arg "priority" missing or not a number: ' .. tostring(argv[4]))
  end
  local key = Keys.job .. jid
  local job = call('hmget', key, unpack(Job))
  if not job[Job.queue] then error('Priority(): Job ' .. jid .. ' does not exist') end
  if job[Job.state] == 'waiting' or job[Job.state] == 'stalled' then
    local before = tonumber(job[Job.priority])
    local work = Keys.queue .. job[Job.queue] .. Keys.work
    -- The score is the priority minus a small part for the time. Beyond 9e15, rounding loses that part: then set the
    -- score to the priority.
    if before and math.abs(before) < 9e15 and math.abs(priority) < 9e15 then
      call('zadd', work, 'XX', 'INCR', priority - before, jid)
    else
      call('zadd', work, 'XX', priority, jid)
    end
  end
  if job[Job.state] == 'throttled' then
    -- A held job is ordered by its negative score. Change the priority in this score, but not the time.
    local before = need('value/number')(job[Job.priority]) or 0
    -- Changes the score of the job in a set of held jobs by the difference of the priorities.
    local function change_order(pending)
      -- Beyond 9e15, rounding loses the time part of the score: then set the score to the negative priority.
      if math.abs(before) < 9e15 and math.abs(priority) < 9e15 then
        redis.pcall('zadd', pending, 'XX', 'INCR', before - priority, jid)
      else
        redis.pcall('zadd', pending, 'XX', string.format('%.17g', -priority), jid)
      end
    end
    change_order(Keys.queue .. job[Job.queue] .. Keys.throttled)
    local ids = need('job/tags')(call('hget', key, 'throttles'))
    for i = 1, #ids do change_order(Keys.throttle .. ids[i] .. Keys.pending) end
  end
  call('hset', key, 'priority', priority)
  return priority
end, true
