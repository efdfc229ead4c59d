-- Deletes jobs with all that belongs to them.
local call, encode = redis.call, cjson.encode

-- `related`: whether any of them may have dependencies.
return function(jids, related)
  local count = #jids
  local tracked = count == 1 or call('exists', Keys.tracked) == 1
  local failed
  for i = 1, count do
    local jid = jids[i]
    local key = Keys.job .. jid
    local job = call('hmget', key, 'state', 'queue', 'failure', 'worker', 'tags')
    local state, queue, worker = job[1], job[2], job[4]
    if state ~= 'complete' then
      local message = '{"jid":' .. encode(jid) .. ',"queue":' .. encode(queue) .. ',"event":"canceled","worker":' ..
        encode(worker) .. '}'
      call('publish', Keys.on_log, message)
      if worker and worker ~= '' then
        call('zrem', Keys.worker .. worker .. Keys.held, jid)
        call('publish', Keys.worker .. worker, message)
      end
      if queue and queue ~= '' then need('place').leave(jid, state, queue) end
      if related then
        local names = call('smembers', key .. Keys.dependencies)
        for k = 1, #names do call('srem', Keys.job .. names[k] .. Keys.dependents, jid) end
      end
      if state == 'failed' then
        if count == 1 then
          need('failure').leave(jid, job[3], queue or '')
        else
          failed = failed or {}
          failed[#failed + 1] = {jid, job[3], queue or ''}
        end
      end
      need('tags').drop_all(jid, job[5])
      if tracked and call('zscore', Keys.tracked, jid) then call('publish', Keys.on_canceled, jid) end
      call('del', key, key .. Keys.history, key .. Keys.dependencies, key .. Keys.dependents)
    end
  end
  if failed then need('failure').leave_all(failed) end
end
