-- unfail: queue group [count]
-- Takes the oldest failed jobs of a group into one queue. Answers how many entries it took off
-- the list; those that are no failed job any more are only dropped.
return function(argv, now, t)
  local call = redis.call
  local queue, group, count = argv[3], argv[4], tonumber(argv[5] or 25)
  if not queue then error('Queue(): no queue name provided') end
  if not group then error('Unfail(): Arg "group" missing') end
  if not count or count - count ~= 0 then
    error('Unfail(): Arg "count" not a number: ' .. argv[5])
  end
  need('arg').integer(count)
  if count == 0 then return 0 end
  local list = Keys.group .. group
  local jids = call('lrange', list, -count, -1)
  if not jids[1] then return 0 end
  local Failure, History = need('failure'), need('history')
  local limit = History.read_limit()
  local entry = '[' .. math.floor(now) .. ',"put",{"q":' .. cjson.encode(queue) .. '}]'
  local work, scores, age, days = {}, {}, now / 10000000000, {}
  for i = 1, #jids do
    local jid = jids[i]
    local key = Keys.job .. jid
    local job = call('hmget', key, 'state', 'retries', 'priority', 'failure', 'queue', 'history')
    if job[1] == 'failed' then
      if job[6] then History.migrate(jid, job[6]) end
      History.append(jid, entry, limit)
      local retries = tonumber(job[2])
      call('hmset', key, 'state', 'waiting', 'worker', '', 'expires', '0', 'queue', queue,
        'remaining', retries and retries - retries == 0 and math.floor(retries) or 5)
      local score = scores[job[3]]
      if not score then
        local priority = tonumber(job[3]) or 0
        if priority - priority ~= 0 then priority = 0 end
        score = string.format('%.17g', priority - age)
        scores[job[3]] = score
      end
      work[#work + 1] = score
      work[#work + 1] = jid
      local failure = Failure.read(job[4])
      local when = tonumber(failure.when)
      if when and when - when == 0 then
        local id = when - when % 86400 .. ':' .. (job[5] or '')
        local day = days[id] or {when, job[5] or '', 0}
        day[3] = day[3] + 1
        days[id] = day
      end
      if type(failure.group) == 'string' and failure.group ~= group then
        call('lrem', Keys.group .. failure.group, 0, jid)
        Failure.close(failure.group)
      end
    end
  end
  if work[1] then
    need('many')('zadd', Keys.queue .. queue .. Keys.work, work, 1, #work)
    call('zadd', Keys.queues, 'NX', t, queue)
  end
  call('ltrim', list, 0, -count - 1)
  Failure.close(group)
  for _, day in pairs(days) do Failure.uncount(day[1], day[2], day[3]) end
  return #jids
end
