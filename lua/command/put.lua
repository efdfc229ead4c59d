-- Creates a job, or moves an existing one, in any state, into the queue.
-- Takes: me queue jid klass data delay [priority p] [tags json] [retries n] [depends json] [throttles json] [lock text]
--   [key text] [dup queue|merge|skip|replace] [until start|end] [ttl s] [score n] [rescore min|max] [hold 0|1]
--   [backoff policy]
-- Result: the jid; with `dup`, the jid of the existing job if that job took the put
-- Refuses: missing or wrong words, a jid with a reserved ending
-- Publishes: as job/put and job/put_extended
local Old = Fields('job/put', 'throttles')

return function(argv, now, t, seconds)
  local queue, jid, klass, data, delay_text = argv[4], argv[5], argv[6], argv[7], argv[8]
  if not queue then error('Queue(): no queue name provided') end
  if not jid then error('Put(): Arg "jid" missing') end
  if not klass then error('Put(): Arg "klass" missing') end
  if not data or cjson.decode(data) == false then
    error('Put(): Arg "data" missing or not JSON: ' .. tostring(data))
  end
  local delay = tonumber(delay_text)
  if not delay or delay - delay ~= 0 then error('Put(): Arg "delay" not a number: ' .. tostring(delay_text)) end
  local job = {me = argv[3], queue = queue, jid = jid, klass = klass, data = data, delay = delay}
  if argv[9] then
    need('job/put_options')(argv, 9, job)
    if job.depends and job.depends[1] then
      job.pending = need('dependency/pending_dependencies')(jid, job.depends)
    end
  end
  -- For speed, test the last byte first: each reserved ending of a jid ends in y or s.
  local last = string.byte(jid, -1)
  if (last == 121 or last == 115) and need('job/reserved')(jid) then
    error('Put(): Arg "jid" must not end in -history, -dependencies, -dependents or -payloads: ' .. jid)
  end
  -- One EXISTS recognizes the usual case, in which none of these keys exists: the job is new, no job is tracked,
  -- and no time of a failure is stored that an earlier job with this jid could have.
  local call, key, old = redis.call, Keys.job .. jid, {}
  local found = call('exists', key, key .. Keys.dependencies, Keys.tracked, Keys.failed_times)
  if found > 0 then old = call('hmget', key, unpack(Old)) end
  job.related = found > (old[Old.state] and 1 or 0)
  local defaults
  if job.coordination then
    local settings = redis.pcall('hmget', Keys.config, queue .. '-defaults', 'max-job-history', 'merge-max')
    defaults, job.limit, job.merge_max = settings[1], settings[2], settings[3]
  elseif old[Old.state] then
    local settings = redis.pcall('hmget', Keys.config, queue .. '-defaults', 'max-job-history')
    defaults, job.limit = settings[1], settings[2]
  else
    defaults = redis.pcall('hget', Keys.config, queue .. '-defaults')
  end
  if defaults or job.coordination or old[Old.throttles] then
    -- Raise an error here if the history has another type, before the job's lane and throttles change.
    if old[Old.throttles] then call('llen', key .. Keys.history) end
    local took, _, path = need('job/put_extended')(now, t, seconds, job, old, defaults)
    if not took then error('Put(): Arg "depends" closes a cycle: ' .. table.concat(path, ' ')) end
    return took
  end
  need('job/put')(now, t, seconds, job, old)
  return jid
end
