-- Completes a running job. With `next`, the job advances to that queue instead of ending.
-- Takes: jid worker queue data [next q] [delay s] [depends json]; with next, also [throttles json] [lock text]
--   [key text] [hold 0|1] [backoff policy]
-- Result: the new state
-- Refuses: a job that is not running, or is held by another worker or in another queue
-- Publishes: the jid to `completed` if tracked; `completed` or `advanced` to the log
local Job = Fields('worker', 'state', 'queue', 'priority', 'retries', 'time', 'history', 'grace', 'scheduled',
  'throttles')
local Config = Fields('max-job-history', 'jobs-history', 'jobs-history-count')

-- `known`: the settings as a Lua caller has read them, nil for a client. Empty `data` of a Lua caller keeps the job's.
return function(argv, now, t, seconds, known)
  local call, encode = redis.call, cjson.encode
  local jid, worker, queue, data = argv[3], argv[4], argv[5], argv[6]
  if not jid then error('Job(): no jid provided') end
  if not worker then error('Complete(): Arg "worker" missing') end
  if not queue then error('Complete(): Arg "queue" missing') end
  local kept = known and data == ''
  if not data or not kept and cjson.decode(data) == false then
    error('Complete(): Arg "data" missing or not JSON: ' .. tostring(data))
  end
  local following, delay, names, given, coordination = nil, 0, nil, nil, nil
  if argv[7] then following, delay, names, given, coordination = need('ending/complete_options')(argv, 7, #argv) end

  local key = Keys.job .. jid
  local job = call('hmget', key, unpack(Job))
  if not job[Job.worker] then error('Complete(): Job ' .. jid .. ' does not exist') end
  if job[Job.state] ~= 'running' then
    error('Complete(): Job ' .. jid .. ' is not currently running: ' .. tostring(job[Job.state]))
  end
  if job[Job.worker] ~= worker then
    error('Complete(): Job ' .. jid .. ' has been handed out to another worker: ' .. job[Job.worker])
  end
  if job[Job.queue] ~= queue then
    error('Complete(): Job ' .. jid .. ' running in another queue: ' .. tostring(job[Job.queue]))
  end
  if names == false then error('Complete(): Arg "depends" not JSON: ' .. given.depends) end
  local pending = names and names[1] and need('dependency/pending_dependencies')(jid, names)
  local finish
  if job[Job.throttles] or coordination then
    finish = need('ending/finish')(now, jid, queue, following, job[Job.throttles], coordination)
    pending = finish.join(pending)
  end

  if job[Job.history] then need('history/migrate')(jid, job[Job.history]) end
  -- One EXISTS recognizes the usual case, which needs no more reads: no job is tracked, and this job has no dependents.
  local any, tracked, dependents = call('exists', Keys.tracked, key .. Keys.dependents) > 0, false, nil
  if any then
    tracked = call('zscore', Keys.tracked, jid)
    dependents = redis.pcall('smembers', key .. Keys.dependents)
  end
  local history = key .. Keys.history
  if pending and pending[1] then
    -- Access the history and the dependencies first: a key of another type then fails the call before any write.
    call('llen', history)
    need('dependency/link')(jid, pending)
  end
  local config = known or redis.pcall('hmget', Keys.config, unpack(Config))
  local quoted, length = encode(queue), nil
  if following then
    length = call('rpush', history, '[' .. seconds .. ',"done"]',
      '[' .. seconds .. ',"put",{"q":' .. encode(following) .. '}]')
  else
    length = call('rpush', history, '[' .. seconds .. ',"done"]')
  end
  local limit = tonumber(config[Config.max_job_history] or 100) or 100
  if length > limit then need('history/trim')(history, length, limit) end
  if call('zrem', Keys.queue .. queue .. Keys.locks, jid) == 0 then
    need('queue/remove_from_state_set')(jid, 'running', queue)
  end
  call('zrem', Keys.worker .. worker .. Keys.held, jid)
  local started = tonumber(job[Job.time])
  if not started or started - started ~= 0 then started = now end
  need('stats/add_values')(Keys.run .. now - now % 86400 .. ':' .. queue, {now - started})
  if tracked then call('publish', Keys.on_completed, jid) end
  local stamp, retries = string.format('%.20f', now), job[Job.retries] or '0'
  if not string.find(retries, '^%d+$') then
    retries = tonumber(retries) or 0
    retries = retries - retries == 0 and need('value/whole_tries')(retries) or 0
  end
  if job[Job.grace] then call('hdel', key, 'grace') end

  if following then
    call('publish', Keys.on_log, '{"jid":' .. encode(jid) .. ',"to":' .. encode(following) ..
      ',"event":"advanced","queue":' .. quoted .. '}')
    call('zadd', Keys.queues, 'NX', t, following)
    local due = delay > 0 and string.format('%.17g', now + delay)
    local state = pending and pending[1] and 'depends' or due and 'scheduled' or 'waiting'
    if kept then data = call('hget', key, 'data') or '{}' end
    call('hmset', key, 'data', data, 'time', stamp, 'state', state, 'worker', '', 'failure', '{}', 'queue', following,
      'expires', '0', 'remaining', retries)
    local place = need('queue/place')
    local timed = place(now, t, jid, following, state, state == 'waiting' and job[Job.priority] or due)
    if job[Job.scheduled] and not timed then call('hdel', key, 'scheduled') end
    if finish then finish.run(data) end
    return state
  end

  call('publish', Keys.on_log, '{"jid":' .. encode(jid) .. ',"event":"completed","queue":' .. quoted .. '}')
  if kept then
    call('hmset', key, 'time', stamp, 'state', 'complete', 'worker', '', 'failure', '{}', 'queue', '', 'expires', '0',
      'remaining', retries)
  else
    call('hmset', key, 'data', data, 'time', stamp, 'state', 'complete', 'worker', '', 'failure', '{}', 'queue', '',
      'expires', '0', 'remaining', retries)
  end
  if job[Job.scheduled] then call('hdel', key, 'scheduled') end
  call('zadd', Keys.completed, t, jid)
  if php then
    need('job/list_complete')(now, t, jid, queue, config[Config.jobs_history], config[Config.jobs_history_count])
  end
  if dependents and dependents[1] then need('dependency/release_dependents')(now, jid, dependents) end
  if finish then finish.run(data) end
  local forget = need('job/forget_complete')
  if known then
    -- Delete old complete jobs, and ignore an error: it would not be about the job that the caller completes.
    pcall(forget, now, config[Config.jobs_history], config[Config.jobs_history_count])
  else
    forget(now, config[Config.jobs_history], config[Config.jobs_history_count])
  end
  return 'complete'
end
