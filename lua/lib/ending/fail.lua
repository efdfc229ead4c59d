-- Fails jobs of a batch as the command `fail` does, but writes shared keys once for the whole batch.
-- Takes: the batch; argv
-- Result: a function of jid, queue, and the positions in argv of the first and the last argument of `fail`: group,
--   message and data. It returns the row of the reply. If data is empty, the job keeps its data
-- Publishes: as `fail`
local Job = Fields('state', 'worker', 'queue', 'history', 'grace', 'throttles')

return function(batch, argv)
  local call, encode = redis.call, cjson.encode
  local w, seconds = encode(batch.worker), batch.seconds
  return function(jid, queue, first, last)
    local group = first <= last and argv[first] or nil
    local message = first + 1 <= last and argv[first + 1] or nil
    local data = first + 2 <= last and argv[first + 2] or ''
    if not group then return batch.invalid('Fail(): Arg "group" missing') end
    if not message then return batch.invalid('Fail(): Arg "message" missing') end
    if data ~= '' then
      local ok, value = pcall(need('value/data_arg'), data)
      if not ok then return batch.invalid(value) end
      data = value or ''
    end
    local key = Keys.job .. jid
    local job = redis.pcall('hmget', key, unpack(Job))
    if job.err then return batch.unreadable(job, key) end
    if job[Job.state] ~= 'running' or job[Job.worker] ~= batch.worker then return batch.refuse(jid) end
    if job[Job.throttles] then return batch.single('fail', argv, jid, queue, first, last) end
    local home = batch.queue(job[Job.queue] or '')
    local bad = home.key_fault or batch.failure_fault(key, group)
    if bad then return batch.invalid(bad) end

    local g, m = encode(group), encode(message)
    if job[Job.history] then need('history/migrate')(jid, job[Job.history]) end
    need('history/append')(jid, '[' .. seconds .. ',"failed",{"group":' .. g .. ',"worker":' .. w .. '}]', batch.limit)
    batch.wrote = true
    call('publish', Keys.on_log, '{"message":' .. m .. ',"jid":' .. encode(jid) .. ',"group":' .. g ..
      ',"event":"failed","worker":' .. w .. '}')
    if batch.any_related and call('zscore', Keys.tracked, jid) then call('publish', Keys.on_failed, jid) end
    local failure = '{"group":' .. g .. ',"message":' .. m .. ',"when":' .. seconds .. ',"worker":' .. w .. '}'
    if data ~= '' then
      call('hmset', key, 'state', 'failed', 'worker', '', 'expires', '', 'failure', failure, 'data', data)
    else
      call('hmset', key, 'state', 'failed', 'worker', '', 'expires', '', 'failure', failure)
    end
    if job[Job.grace] then call('hdel', key, 'grace') end
    home.locks[#home.locks + 1] = jid
    batch.held[#batch.held + 1] = jid
    need('ending/enter_failed')(batch, home, jid, group)
    return {'done', 'failed'}
  end
end
