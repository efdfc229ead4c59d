-- Puts jobs back into a queue, or fails them, as the command `retry` does. The history of a job that returns
-- to a queue gets an entry.
-- Takes: the batch; argv
-- Result: a function of jid, queue and the positions of the first and of the last word behind `retry`, which
--   returns the row of the reply
-- Publishes: as `retry`
local Job = Fields('state', 'worker', 'queue', 'priority', 'remaining', 'retries', 'grace', 'history',
  'throttles')

return function(batch, argv)
  local call, now, seconds = redis.call, batch.now, batch.seconds
  return function(jid, queue, first, last)
    local text = first <= last and argv[first] or 0
    local group = first + 1 <= last and argv[first + 1] or nil
    local message = first + 2 <= last and argv[first + 2] or nil
    local delay = need('value/number')(text)
    if not delay then return batch.invalid('Retry(): Arg "delay" not a number: ' .. text) end
    local code = first + 3 <= last and argv[first + 3] or nil
    if code and not string.find(code, '^%d%d?%d?$') then
      return batch.invalid('Retry(): Arg "exit" not an exit code: ' .. code)
    end
    local key = Keys.job .. jid
    local job = redis.pcall('hmget', key, unpack(Job))
    if job.err then return batch.unreadable(job, key) end
    if job[Job.state] ~= 'running' or job[Job.worker] ~= batch.worker then return batch.refuse(jid) end

    local function note()
      -- Leave out the group that the core chooses itself, which says nothing about the reason.
      local named = group ~= 'failed-retries-' .. queue and group or nil
      return need('history/retried')(jid, seconds, batch.worker, {group = named, message = message, exit = code},
        batch.limit)
    end
    if job[Job.throttles] then
      local fault = batch.fault('list', key .. Keys.history)
      if fault then return batch.invalid(fault) end
      local row = batch.single('retry', argv, jid, queue, first, math.min(last, first + 2))
      if row[1] == 'done' and tonumber(row[2]) >= 0 then
        if job[Job.history] then need('history/migrate')(jid, job[Job.history]) end
        note()
      end
      return row
    end
    local left = need('job/tries_left')(job[Job.remaining], job[Job.retries])
    local home_name, named, failure = job[Job.queue] or queue, group and message, nil
    local home, target = batch.queue(home_name), batch.queue(queue)
    local bad = home.key_fault or batch.fault('zset', Keys.queues)
    if named then failure = need('failure/encode')(group, message, seconds, batch.worker) end
    if left < 0 then
      group = group or 'failed-retries-' .. queue
      if not named then
        failure = need('failure/encode')(group, 'Job exhausted retries in queue "' .. home_name .. '"', seconds, '')
      end
      bad = bad or batch.failure_fault(key, group)
      if bad then return batch.invalid(bad) end
      if job[Job.history] then need('history/migrate')(jid, job[Job.history]) end
      need('history/append')(jid, '[' .. seconds .. ',"failed",{"group":' .. cjson.encode(group) .. '}]', batch.limit)
      batch.wrote = true
      call('hmset', key, 'remaining', left, 'state', 'failed', 'worker', '', 'expires', '', 'failure', failure,
        'queue', queue)
      need('ending/enter_failed')(batch, target, jid, group)
      if batch.any_related and call('zscore', Keys.tracked, jid) then call('publish', Keys.on_failed, jid) end
    else
      bad = bad or batch.fault('zset', target.base .. Keys.work, 'zset', target.base .. Keys.scheduled)
      if not bad and job[Job.history] then
        bad = batch.fault('list', key .. Keys.history)
        if not bad then need('history/migrate')(jid, job[Job.history]) end
      end
      if bad then return batch.invalid(bad) end
      local wrong = note()
      if wrong then
        local list = key .. Keys.history
        return batch.invalid(need('value/wrong_type')(wrong, batch.wrote, 'list', list, 'llen', list))
      end
      local state = delay > 0 and 'scheduled' or 'waiting'
      if failure then
        call('hmset', key, 'remaining', left, 'state', state, 'failure', failure)
      else
        call('hmset', key, 'remaining', left, 'state', state)
      end
      batch.wrote = true
      if home_name ~= queue then call('hset', key, 'queue', queue) end
      need('queue/place')(now, batch.t, jid, target, state, delay > 0 and now + delay or job[Job.priority])
    end
    target.listed = true
    if job[Job.grace] then call('hdel', key, 'grace') end
    home.locks[#home.locks + 1] = jid
    batch.held[#batch.held + 1] = jid
    return {'done', string.format('%.14g', left)}
  end
end
