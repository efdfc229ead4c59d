-- Returns jobs to a queue, or fails them, as the command `retry` does. Beside that, the history of a job that returns
-- to a queue gets an entry.
-- Takes: the batch; argv
-- Returns: a function of jid, queue and the positions of the first and of the last word behind `retry`, which
--   returns the row of the reply
-- Publishes: as `retry`
local Job = Fields('state', 'worker', 'queue', 'priority', 'remaining', 'retries', 'grace', 'history',
  'throttles')

return function(b, argv)
  local call, now, seconds = redis.call, b.now, b.seconds
  return function(jid, queue, first, last)
    local text = first <= last and argv[first] or 0
    local group = first + 1 <= last and argv[first + 1] or nil
    local message = first + 2 <= last and argv[first + 2] or nil
    local delay = need('value/number')(text)
    if not delay then return b.invalid('Retry(): Arg "delay" not a number: ' .. text) end
    local code = first + 3 <= last and argv[first + 3] or nil
    if code and not string.find(code, '^%d%d?%d?$') then
      return b.invalid('Retry(): Arg "exit" not an exit code: ' .. code)
    end
    local key = Keys.job .. jid
    local job = redis.pcall('hmget', key, unpack(Job))
    if job.err then return b.invalid(need('value/wrong_type')(job, b.wrote, 'hash', key, 'hget', key, 'jid')) end
    if job[Job.state] ~= 'running' or job[Job.worker] ~= b.worker then return b.refuse(jid) end

    local function note()
      -- The group that the core chooses says nothing about the reason.
      local named = group ~= 'failed-retries-' .. queue and group or nil
      return need('history/retried')(jid, seconds, b.worker, {group = named, message = message, exit = code}, b.limit)
    end
    if job[Job.throttles] then
      local fault = b.fault('list', key .. Keys.history)
      if fault then return b.invalid(fault) end
      local row = b.single('retry', argv, jid, queue, first, math.min(last, first + 2))
      if row[1] == 'done' and tonumber(row[2]) >= 0 then
        if job[Job.history] then need('history/migrate')(jid, job[Job.history]) end
        note()
      end
      return row
    end
    local left = tonumber(job[Job.remaining]) or tonumber(job[Job.retries]) or 0
    if left - left ~= 0 then left = 0 end
    left = need('value/whole_tries')(left) - 1
    local home_name, named, failure = job[Job.queue] or queue, group and message, nil
    local home, target = b.queue(home_name), b.queue(queue)
    local bad = home.bad or b.fault('zset', Keys.queues)
    if named then failure = need('failure/encode')(group, message, seconds, b.worker) end
    if left < 0 then
      group = group or 'failed-retries-' .. queue
      if not named then
        failure = need('failure/encode')(group, 'Job exhausted retries in queue "' .. home_name .. '"', seconds, '')
      end
      bad = bad or b.fault('list', key .. Keys.history, 'set', Keys.failures, 'list', Keys.group .. group,
        'zset', Keys.tracked) or select(2, b.failed_age())
      if bad then return b.invalid(bad) end
      if job[Job.history] then need('history/migrate')(jid, job[Job.history]) end
      need('history/append')(jid, '[' .. seconds .. ',"failed",{"group":' .. cjson.encode(group) .. '}]', b.limit)
      b.wrote = true
      call('hmset', key, 'remaining', left, 'state', 'failed', 'worker', '', 'expires', '', 'failure', failure,
        'queue', queue)
      need('ending/enter_failed')(b, target, jid, group)
      if b.any and call('zscore', Keys.tracked, jid) then call('publish', Keys.on_failed, jid) end
    else
      bad = bad or b.fault('zset', target.base .. Keys.work, 'zset', target.base .. Keys.scheduled)
      if not bad and job[Job.history] then
        bad = b.fault('list', key .. Keys.history)
        if not bad then need('history/migrate')(jid, job[Job.history]) end
      end
      if bad then return b.invalid(bad) end
      local wrong = note()
      if wrong then
        local list = key .. Keys.history
        return b.invalid(need('value/wrong_type')(wrong, b.wrote, 'list', list, 'llen', list))
      end
      local state = delay > 0 and 'scheduled' or 'waiting'
      if failure then
        call('hmset', key, 'remaining', left, 'state', state, 'failure', failure)
      else
        call('hmset', key, 'remaining', left, 'state', state)
      end
      b.wrote = true
      if home_name ~= queue then call('hset', key, 'queue', queue) end
      need('queue/place')(now, b.t, jid, target, state, delay > 0 and now + delay or job[Job.priority])
    end
    target.listed = true
    if job[Job.grace] then call('hdel', key, 'grace') end
    home.locks[#home.locks + 1] = jid
    b.held[#b.held + 1] = jid
    return {'done', string.format('%.14g', left)}
  end
end
