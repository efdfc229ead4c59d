-- Puts a running job back into a queue and uses one of its tries. If no try remains, the job fails.
-- Takes: jid queue worker [delay [group [message]]]
-- Result: the number of remaining tries
-- Refuses: a job that is not running or is held by another worker
-- Publishes: the jid to `failed` if the job failed and is tracked; as ending/extended
local Job = Fields('state', 'worker', 'queue', 'priority', 'remaining', 'retries', 'grace', 'throttles')

return function(argv, now, t, seconds)
  local call = redis.call
  local jid, queue, worker, group, message = argv[3], argv[4], argv[5], argv[7], argv[8]
  if not jid then error('Job(): no jid provided') end
  if not queue then error('Retry(): Arg "queue" missing') end
  if not worker then error('Retry(): Arg "worker" missing') end
  local delay = tonumber(argv[6] or 0)
  if not delay or delay - delay ~= 0 then error('Retry(): Arg "delay" not a number: ' .. argv[6]) end
  local key = Keys.job .. jid
  local job = call('hmget', key, unpack(Job))
  if not job[Job.state] and not job[Job.worker] then error('Retry(): Job ' .. jid .. ' does not exist') end
  if job[Job.state] ~= 'running' then
    error('Retry(): Job ' .. jid .. ' is not currently running: ' .. tostring(job[Job.state]))
  end
  if job[Job.worker] ~= worker then
    error('Retry(): Job ' .. jid .. ' has been given to another worker: ' .. tostring(job[Job.worker]))
  end

  local left = need('job/tries_left')(job[Job.remaining], job[Job.retries])
  if job[Job.throttles] and delay <= 0 and left >= 0 then
    delay = need('option/delay')(call('hget', key, 'backoff'), jid, job[Job.retries], left, now)
  end
  local home, named = job[Job.queue] or queue, group and message
  local state, failure, age = delay > 0 and 'scheduled' or 'waiting', nil, nil
  if named then failure = need('failure/encode')(group, message, seconds, worker) end
  if left < 0 then
    group = group or 'failed-retries-' .. queue
    if not named then
      failure = need('failure/encode')(group, 'Job exhausted retries in queue "' .. home .. '"', seconds, '')
    end
    local config = redis.pcall('hmget', Keys.config, 'max-job-history', 'jobs-failed-history')
    local fault
    age, fault = need('failure/age')(config[2])
    if fault then error('Retry(): ' .. fault) end
    local legacy, limit = call('hget', key, 'history'), tonumber(config[1] or 100) or 100
    if legacy then need('history/migrate')(jid, legacy) end
    need('history/append')(jid, '[' .. seconds .. ',"failed",{"group":' .. cjson.encode(group) .. '}]', limit)
    call('hmset', key, 'remaining', left, 'state', 'failed', 'worker', '', 'expires', '', 'failure', failure,
      'queue', queue)
  else
    if failure then
      call('hmset', key, 'remaining', left, 'state', state, 'failure', failure)
    else
      call('hmset', key, 'remaining', left, 'state', state)
    end
    if home ~= queue then call('hset', key, 'queue', queue) end
  end
  -- Remove the job from the locks of its queue. If it is not there, search the other sets that may contain it.
  if call('zrem', Keys.queue .. home .. Keys.locks, jid) == 0 then
    need('queue/remove_from_state_set')(jid, 'running', home)
  end
  if left < 0 then
    need('failure/enter')(now, jid, group, queue)
    if call('zscore', Keys.tracked, jid) then call('publish', Keys.on_failed, jid) end
  else
    need('queue/place')(now, t, jid, queue, state, delay > 0 and now + delay or job[Job.priority])
  end
  call('zadd', Keys.queues, 'NX', t, queue)
  if job[Job.grace] then call('hdel', key, 'grace') end
  call('zrem', Keys.worker .. worker .. Keys.held, jid)
  if job[Job.throttles] then
    local how, ended = left < 0 and 'exhausted' or 'retry', {jid = jid, queue = queue, throttles = job[Job.throttles]}
    need('ending/extended')(now, t, seconds, how, ended)
  end
  if age then need('failure/forget_old')(now, t, {jid}, age) end
  return left
end
