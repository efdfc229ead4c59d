-- Moves the oldest failed jobs of a group into a queue, up to 10000 in a call. Entries of the failure list whose job is
-- not failed are only removed from the list.
-- Takes: queue group [count]; further words are ignored. unfail.jobs also passes the jobs to move instead of the oldest
-- Result: the number of entries removed from the list
-- Refuses: missing words, a count that is not an integer
-- Publishes: as merge/vanish
local Job = Fields('state', 'retries', 'priority', 'failure', 'queue', 'history', 'throttles')

-- Puts a failed job back into its lane. If the last job of the lane can take the payloads of a merge job, moves them
-- there and deletes the merge job.
-- Takes: now; jid; lane; the queue into which the job goes
-- Result: the new state, `waiting` or `depends`; or `merged` if the job was deleted
-- Publishes: as merge/vanish
local function return_to_lane(now, jid, lane, queue)
  local call, key = redis.call, Keys.job .. jid
  -- If the payloads key has a wrong type, leave the job's data as it is: an error would stop the call half-way.
  local merge = call('hget', key, 'dup') == 'merge' and type(redis.pcall('zcard', key .. Keys.payloads)) == 'number'
  if merge and need('merge/into_last')(now, jid, lane, queue) then return 'merged' end
  need('lane/rejoin')(now, lane, jid)
  if merge then call('hset', key, 'data', need('merge/compose')(jid)) end
  return call('exists', key .. Keys.dependencies) == 1 and 'depends' or 'waiting'
end

return function(argv, now, t, seconds, named)
  local call = redis.call
  local queue, group, count = argv[3], argv[4], tonumber(argv[5] or 25)
  if not queue then error('Queue(): no queue name provided') end
  if not group then error('Unfail(): Arg "group" missing') end
  if not count or count - count ~= 0 then
    error('Unfail(): Arg "count" not a number: ' .. argv[5])
  end
  need('value/integer')(count)
  if count == 0 then return 0 end
  local list = Keys.group .. group
  -- A count of -N moves all jobs except the N newest.
  if count > 10000 or count < 0 and call('llen', list) + count > 10000 then count = 10000 end
  local jids = named or call('lrange', list, -count, -1)
  if not jids[1] then return 0 end
  local limit = need('history/limit')()
  local append, whole_tries = need('history/append'), need('value/whole_tries')
  local prefix = '{"group":' .. cjson.encode(group) .. ','
  local entry = '[' .. seconds .. ',"put",{"q":' .. cjson.encode(queue) .. '}]'
  local target = {base = Keys.queue .. queue, work = {}, scheduled = {}, scores = {}}
  local work, blocked, place, days, whens = target.work, {}, need('queue/place'), {}, {}

  -- Puts a failed job into the queue with all its tries. The caller removes it from its failure list.
  local function requeue(jid, job)
    local key, placed = Keys.job .. jid, 'waiting'
    local lane = job[Job.throttles] and call('hget', key, 'key')
    if lane then placed = return_to_lane(now, jid, lane, queue) end
    if placed == 'merged' then return end
    if job[Job.history] then need('history/migrate')(jid, job[Job.history]) end
    append(jid, entry, limit)
    local retries = tonumber(job[Job.retries])
    call('hmset', key, 'state', placed, 'worker', '', 'expires', '0', 'queue', queue,
      'remaining', retries and retries - retries == 0 and whole_tries(retries) or 5)
    if placed == 'depends' then blocked[#blocked + 1] = jid end
    place(now, t, jid, target, placed, placed == 'waiting' and job[Job.priority])
  end

  -- Adds the moved jobs to the work set, and the queue to the list of queues, even if all moved jobs have dependencies.
  local function add_to_work()
    need('queue/enter')(target)
    if work[1] or blocked[1] then call('zadd', Keys.queues, 'NX', t, queue) end
  end

  if named then
    local leaving, decode, failures = {}, need('failure/decode'), {}
    for i = 1, #jids do
      local jid = jids[i]
      local job = call('hmget', Keys.job .. jid, unpack(Job))
      local text = job[Job.failure] or '{}'
      failures[text] = failures[text] or decode(text)
      if job[Job.state] == 'failed' and failures[text].group == group then
        requeue(jid, job)
        leaving[#leaving + 1] = {jid, text, job[Job.queue] or ''}
      end
    end
    add_to_work()
    if leaving[1] then need('failure/leave_many')(leaving) end
    return #leaving
  end

  -- Begin with the oldest failure, the last of the list, so that jobs enter a lane in the order in which they failed.
  for i = #jids, 1, -1 do
    local jid = jids[i]
    local job = call('hmget', Keys.job .. jid, unpack(Job))
    if job[Job.state] == 'failed' then
      requeue(jid, job)
      -- Find the time of the failure. If its JSON text begins with this group, as usual, do not decode the text.
      local text = job[Job.failure] or '{}'
      local at = whens[text]
      if not at and string.find(text, prefix, 1, true) == 1 then
        at = tonumber(string.match(text, '"when":(%d+)[,}]'))
        whens[text] = at
      end
      if not at then
        local failure = need('failure/decode')(text)
        local other = failure.group
        at = tonumber(failure.when)
        if type(other) == 'string' and other ~= group then
          call('lrem', Keys.group .. other, 0, jid)
          if call('exists', Keys.group .. other) == 0 then call('srem', Keys.failures, other) end
        end
      end
      if at and at - at == 0 then
        local of, day = days[job[Job.queue]], at - at % 86400
        if not of then
          of = {}
          days[job[Job.queue]] = of
        end
        of[day] = (of[day] or 0) + 1
      end
    end
  end
  add_to_work()
  if call('exists', Keys.failed_times) == 1 then need('failure/forget_times')(jids) end
  call('ltrim', list, 0, -count - 1)
  -- Remove second entries of the moved jobs from the rest of the list: an older script may have left such entries.
  local left = #jids < count and 0 or call('llen', list)
  if left > 0 and left <= 1000 then
    local moved, page = {}, call('lrange', list, 0, -1)
    for i = 2, #work, 2 do moved[work[i]] = true end
    for i = 1, #blocked do moved[blocked[i]] = true end
    for i = 1, #page do
      if moved[page[i]] then left = left - call('lrem', list, 0, page[i]) end
    end
  end
  if left == 0 then call('srem', Keys.failures, group) end
  for from, of in pairs(days) do
    for day, n in pairs(of) do need('failure/uncount')(day, from or '', n) end
  end
  return #jids
end
