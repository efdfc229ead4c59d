-- Gives the payloads of a failed merge job to the last job of its lane, if the last job can take them. The last job
-- then becomes due now, with full retries, and the failed job is deleted.
-- Takes: now; jid; lane; the queue into which the failed job goes
-- Result: whether the last job took the payloads. The caller then removes the failed job from its failure list
-- Publishes: as merge/vanish
local Job = Fields('lane/live')

local function refresh(now, jid, job)
  local call, key = redis.call, Keys.job .. jid
  local retries = need('value/number')(call('hget', key, 'retries')) or 5
  call('hset', key, 'remaining', need('value/whole_tries')(retries))
  if job[Job.state] == 'scheduled' then
    call('zrem', Keys.queue .. job[Job.queue] .. Keys.scheduled, jid)
    need('queue/place')(now, nil, jid, job[Job.queue], 'waiting', job[Job.priority])
    call('hset', key, 'state', 'waiting')
  elseif job[Job.scheduled] then
    call('hdel', key, 'scheduled')
  end
end

return function(now, jid, lane, queue)
  local call, key = redis.call, Keys.job .. jid
  -- A job that kept its place in its lane goes on there, with its own payloads. This also applies if the lane is a
  -- key of another type: the reply is then an error in place of the score.
  if redis.pcall('zscore', Keys.lane .. lane, jid) then return false end
  local last, job = need('lane/last')(now, lane)
  if not last or job[Job.dup] ~= 'merge' or job[Job.state] == 'running' or job[Job.state] == 'failed'
    or job[Job.queue] ~= queue or job[Job.klass] ~= call('hget', key, 'klass') then
    return false
  end
  local theirs, mine = Keys.job .. last .. Keys.payloads, key .. Keys.payloads
  if type(redis.pcall('zcard', theirs)) ~= 'number' then return false end
  if not need('merge/room')(theirs, mine, redis.pcall('hget', Keys.config, 'merge-max')) then return false end
  call('zunionstore', theirs, 2, theirs, mine, 'AGGREGATE', job[Job.rescore] == 'max' and 'MAX' or 'MIN')
  call('hset', Keys.job .. last, 'data', need('merge/compose')(last))
  refresh(now, last, job)
  need('merge/vanish')(now, jid, last, true)
  return true
end
