-- Extends the locks of a worker, each as the command `heartbeat` does.
-- Takes: worker (jid data) ...; empty data keeps the data of the job
-- Result: per job outcome and details: `done` (when the lock now expires), `gone`, `not_holder` (state, worker),
--   `invalid` (why)
-- Refuses: wrong words, more than 500 jobs
local Job = Fields('state', 'worker', 'queue', 'grace')

return function(argv, now, t)
  local call, worker, count = redis.call, argv[3], #argv - 3
  if not worker then error('Guard(): worker missing') end
  if count % 2 ~= 0 then error('Guard(): a jid has no data beside it') end
  if count > 1000 then error('Guard(): more than 500 jobs') end
  local rows, jobs, config, fields = {}, {}, {}, {'heartbeat'}
  local progress = {}
  local fault = need('value/key_fault')(progress)
  for i = 4, #argv, 2 do
    local key = Keys.job .. argv[i]
    local job = redis.pcall('hmget', key, unpack(Job))
    jobs[i] = job
    local queue = job[Job.queue] or ''
    if not job.err and not config[queue] then
      fields[#fields + 1] = queue .. '-heartbeat'
      config[queue] = #fields
    end
  end
  local number, settings = need('value/number'), redis.pcall('hmget', Keys.config, unpack(fields))
  local common = number(settings[1]) or 60
  local held, locks = {}, {}
  for i = 4, #argv, 2 do
    local jid, data, job, row = argv[i], argv[i + 1], jobs[i], nil
    local key, queue = Keys.job .. jid, job[Job.queue] or ''
    if data ~= '' then
      local ok, value = pcall(need('value/data_arg'), data)
      if ok then data = value or '' else row = {'invalid', need('value/error_text')(value)} end
    end
    if row then
      -- Refused.
    elseif job.err then
      row = {'invalid', need('value/wrong_type')(job, progress.wrote, 'hash', key, 'hget', key, 'jid')}
    elseif not job[Job.worker] then
      row = {'gone'}
    elseif job[Job.state] ~= 'running' or job[Job.worker] ~= worker or worker == '' then
      row = {'not_holder', job[Job.state] or '', job[Job.worker]}
    else
      local base = Keys.queue .. queue
      local bad = fault('zset', base .. Keys.locks, 'zset', Keys.worker .. worker .. Keys.held, 'zset', Keys.workers)
      if bad then
        row = {'invalid', bad}
      else
        local ends = now + (number(settings[config[queue]]) or common)
        local expires = string.format('%.17g', ends)
        if data ~= '' then
          call('hmset', key, 'expires', expires, 'worker', worker, 'data', data)
        else
          call('hmset', key, 'expires', expires, 'worker', worker)
        end
        progress.wrote = true
        if job[Job.grace] then call('hdel', key, 'grace') end
        local list = locks[base]
        if not list then
          list = {}
          locks[base] = list
        end
        list[#list + 1], list[#list + 2] = expires, jid
        held[#held + 1], held[#held + 2] = expires, jid
        row = {'done', expires}
      end
    end
    rows[i / 2 - 1] = row
  end
  if held[1] then
    local in_chunks = need('value/in_chunks')
    in_chunks('zadd', Keys.worker .. worker .. Keys.held, held, 1, #held)
    call('zadd', Keys.workers, t, worker)
    for base, list in pairs(locks) do in_chunks('zadd', base .. Keys.locks, list, 1, #list) end
  end
  return rows
end
