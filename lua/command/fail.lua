-- Fails a running job for its holder.
-- Takes: jid worker group message [data]
-- Result: the jid
-- Refuses: a job that is not running or is held by another worker
-- Publishes: `failed` to the log; the jid to `failed` if tracked
local Job = Fields('state', 'worker', 'queue', 'history', 'grace', 'throttles')

return function(argv, now, t, seconds)
  local call = redis.call
  local jid, worker, group, message, data = argv[3], argv[4], argv[5], argv[6], argv[7]
  if not jid then error('Job(): no jid provided') end
  if not worker then error('Fail(): Arg "worker" missing') end
  if not group then error('Fail(): Arg "group" missing') end
  if not message then error('Fail(): Arg "message" missing') end
  if data and (cjson.decode(data) == false or string.find(data, '\0', 1, true)) then
    data = need('value/data_arg')(data)
  end
  local key = Keys.job .. jid
  local job = call('hmget', key, unpack(Job))
  local queue = job[Job.queue] or ''
  if not job[Job.state] and not job[Job.worker] then error('Fail(): Job ' .. jid .. 'does not exist') end
  if job[Job.state] ~= 'running' then
    error('Fail(): Job ' .. jid .. 'not currently running: ' .. tostring(job[Job.state]))
  end
  if job[Job.worker] ~= worker then
    error('Fail(): Job ' .. jid .. ' running with another worker: ' .. tostring(job[Job.worker]))
  end
  local config = redis.pcall('hmget', Keys.config, 'max-job-history', 'jobs-failed-history')
  local age, fault
  if config[2] or php then age, fault = need('failure/age')(config[2]) end
  if fault then error('Fail(): ' .. fault) end
  local g, w, m = cjson.encode(group), cjson.encode(worker), cjson.encode(message)
  if job[Job.history] then need('history/migrate')(jid, job[Job.history]) end
  local limit = tonumber(config[1] or 100) or 100
  need('history/append')(jid, '[' .. seconds .. ',"failed",{"group":' .. g .. ',"worker":' .. w .. '}]', limit)
  call('publish', Keys.on_log, '{"message":' .. m .. ',"jid":' .. cjson.encode(jid) .. ',"group":' .. g ..
    ',"event":"failed","worker":' .. w .. '}')
  if call('zscore', Keys.tracked, jid) then call('publish', Keys.on_failed, jid) end
  call('zrem', Keys.worker .. worker .. Keys.held, jid)
  if call('zrem', Keys.queue .. queue .. Keys.locks, jid) == 0 then
    need('queue/remove_from_state_set')(jid, 'running', queue)
  end
  local failure = '{"group":' .. g .. ',"message":' .. m .. ',"when":' .. seconds .. ',"worker":' .. w .. '}'
  if data then
    call('hmset', key, 'state', 'failed', 'worker', '', 'expires', '', 'failure', failure, 'data', data)
  else
    call('hmset', key, 'state', 'failed', 'worker', '', 'expires', '', 'failure', failure)
  end
  if job[Job.grace] then call('hdel', key, 'grace') end
  need('failure/enter')(now, jid, group, queue)
  if job[Job.throttles] then
    need('ending/extended')(now, t, seconds, 'fail', {jid = jid, queue = queue, throttles = job[Job.throttles]})
  end
  if age then need('failure/forget_old')(now, t, {jid}, age) end
  return jid
end
