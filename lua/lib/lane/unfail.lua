-- Returns a failed job to its lane. A merge job gives its payloads to the last job there, if that one can take them.
-- Takes: now; jid; lane; the queue into which it goes
-- Returns: `waiting`, `depends`, or `merged` if the job is gone
-- Publishes: as merge/vanish
local Job = Fields('lane/live')
local Own = Fields('dup', 'klass')

-- Makes a job that took the payloads due now, with full retries.
local function refresh(now, jid, job)
  local call, key = redis.call, Keys.job .. jid
  local retries = need('value/number')(call('hget', key, 'retries')) or 5
  call('hset', key, 'remaining', need('value/whole_tries')(retries))
  if job[Job.state] == 'scheduled' then
    call('zrem', Keys.queue .. job[Job.queue] .. Keys.scheduled, jid)
    local priority = need('value/number')(job[Job.priority]) or 0
    call('zadd', Keys.queue .. job[Job.queue] .. Keys.work, priority - now / 10000000000, jid)
    call('hset', key, 'state', 'waiting')
  elseif job[Job.scheduled] then
    call('hdel', key, 'scheduled')
  end
end

return function(now, jid, lane, queue)
  local call, key = redis.call, Keys.job .. jid
  local own = call('hmget', key, unpack(Own))
  if own[Own.dup] == 'merge' and not call('zscore', Keys.lane .. lane, jid) then
    local last, job = need('lane/last')(now, lane)
    if last and job[Job.dup] == 'merge' and job[Job.state] ~= 'running' and job[Job.state] ~= 'failed'
      and job[Job.queue] == queue and job[Job.klass] == own[Own.klass] then
      local theirs, mine = Keys.job .. last .. Keys.payloads, key .. Keys.payloads
      local most = need('merge/most')(redis.pcall('hget', Keys.config, 'merge-max'))
      if call('zcard', theirs) + call('zcard', mine) <= most then
        call('zunionstore', theirs, 2, theirs, mine, 'AGGREGATE', job[Job.rescore] == 'max' and 'MAX' or 'MIN')
        call('hset', Keys.job .. last, 'data', need('merge/compose')(last))
        refresh(now, last, job)
        need('merge/vanish')(now, jid, last, true)
        return 'merged'
      end
    end
  end
  need('lane/rejoin')(now, lane, jid)
  if own[Own.dup] == 'merge' then call('hset', key, 'data', need('merge/compose')(jid)) end
  return call('exists', key .. Keys.dependencies) == 1 and 'depends' or 'waiting'
end
