-- Extends the lock of a worker on a job, and stores the data of the job if it is given.
-- Takes: jid worker [data]
-- Result: when the lock now expires
-- Refuses: a job that is not running or is held by another worker
local Job = Fields('state', 'worker', 'queue', 'grace')

return function(argv, now, t)
  local call = redis.call
  local jid, worker, data = argv[3], argv[4], argv[5]
  if not jid then error('Job(): no jid provided') end
  if not worker then error('Heatbeat(): Arg "worker" missing') end
  if data and (cjson.decode(data) == false or string.find(data, '\0', 1, true)) then
    data = need('value/data_arg')(data)
  end
  local key = Keys.job .. jid
  local job = call('hmget', key, unpack(Job))
  local state, queue = job[Job.state], job[Job.queue] or ''
  if not job[Job.worker] then error('Heartbeat(): Job ' .. jid .. ' does not exist') end
  if state ~= 'running' then
    error('Heartbeat(): Job ' .. jid .. ' not currently running: ' .. tostring(state))
  end
  if job[Job.worker] ~= worker or worker == '' then
    error('Heartbeat(): Job ' .. jid .. ' given out to another worker: ' .. job[Job.worker])
  end
  local config = redis.pcall('hmget', Keys.config, queue .. '-heartbeat', 'heartbeat')
  local own, common = tonumber(config[1]), tonumber(config[2])
  local ends = now + (own and own - own == 0 and own or common and common - common == 0 and common or 60)
  local expires = string.format('%.17g', ends)
  if data then
    call('hmset', key, 'expires', expires, 'worker', worker, 'data', data)
  else
    call('hmset', key, 'expires', expires, 'worker', worker)
  end
  if job[Job.grace] then call('hdel', key, 'grace') end
  call('zadd', Keys.worker .. worker .. Keys.held, expires, jid)
  call('zadd', Keys.workers, t, worker)
  call('zadd', Keys.queue .. queue .. Keys.locks, expires, jid)
  return ends
end
