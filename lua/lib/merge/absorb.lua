-- Moves the payloads of the next job in the lane to a merge job that runs again. The next job must be a merge job with
-- equal queue and klass that has not started and depends on no other job. All its payloads must find room.
-- Takes: now; jid; lane; queue
-- Publishes: as merge/vanish
local Job = Fields('lane/live')
local Own = Fields('klass', 'rescore')

return function(now, jid, lane, queue)
  local call, key = redis.call, Keys.lane .. lane
  local rank = call('zrank', key, jid)
  local name = rank and call('zrange', key, rank + 1, rank + 1)[1]
  local job = name and need('lane/live')(lane, name)
  if not job or job[Job.dup] ~= 'merge' or job[Job.state] == 'running' or job[Job.state] == 'failed' then return end
  local own = call('hmget', Keys.job .. jid, unpack(Own))
  if job[Job.queue] ~= queue or job[Job.klass] ~= own[Own.klass] then return end
  local above = call('smembers', Keys.job .. name .. Keys.dependencies)
  if #above > 1 or above[1] and above[1] ~= jid then return end
  local mine, theirs = Keys.job .. jid .. Keys.payloads, Keys.job .. name .. Keys.payloads
  if not need('merge/room')(mine, theirs, redis.pcall('hget', Keys.config, 'merge-max')) then return end
  call('zunionstore', mine, 2, mine, theirs, 'AGGREGATE', own[Own.rescore] == 'max' and 'MAX' or 'MIN')
  need('merge/vanish')(now, name, jid)
end
