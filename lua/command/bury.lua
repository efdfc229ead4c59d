-- Fails a job that is not running. The job then looks as if a holder had failed it, but no worker is named.
-- Takes: jid group message
-- Result: the jid
-- Refuses: a job that does not exist, is running, failed or complete
-- Publishes: `failed` to the log; the jid to `failed` if tracked
local Job = Fields('state', 'worker', 'queue', 'history', 'grace', 'scheduled', 'throttles')
local Ext = Fields('job/extension')

-- Removes a job that has not started from everything that would make it run: the set of its state, its throttles, its
-- dependencies and its lane. Its dependents still wait for it. A job that keeps its place in its lane also keeps its
-- dependencies, because the job before it in the lane may be one of them.
-- Takes: now; jid; state; queue; its stored throttles, or false
local function remove_from_indexes(now, jid, state, queue, throttles)
  local call, dependencies = redis.call, Keys.job .. jid .. Keys.dependencies
  local names = call('smembers', dependencies)
  need('queue/remove_from_state_set')(jid, state, queue)
  if throttles then
    need('throttle/leave')(jid, state, queue, throttles)
    local ext = need('job/extension')(jid)
    if ext[Ext.key] and ext[Ext.hold] == '1' then return end
    if ext[Ext.key] then need('lane/leave')(now, ext[Ext.key], jid) end
  end
  for i = 1, #names do call('srem', Keys.job .. names[i] .. Keys.dependents, jid) end
  if names[1] then call('del', dependencies) end
end

return function(argv, now, t, seconds)
  local call = redis.call
  local jid, group, message = argv[3], argv[4], argv[5]
  if not jid then error('Job(): no jid provided') end
  if not group then error('Bury(): Arg "group" missing') end
  if not message then error('Bury(): Arg "message" missing') end
  local key = Keys.job .. jid
  local job = call('hmget', key, unpack(Job))
  local state, queue, worker = job[Job.state], job[Job.queue] or '', job[Job.worker] or ''
  if not state and not job[Job.queue] then error('Bury(): Job ' .. jid .. ' does not exist') end
  if state ~= 'waiting' and state ~= 'scheduled' and state ~= 'depends' and state ~= 'stalled'
    and state ~= 'throttled' then
    error('Bury(): Job ' .. jid .. ' is ' .. tostring(state))
  end
  local age, fault = need('failure/age')(redis.pcall('hget', Keys.config, 'jobs-failed-history'))
  if fault then error('Bury(): ' .. fault) end
  if job[Job.history] then need('history/migrate')(jid, job[Job.history]) end
  need('history/append')(jid, '[' .. seconds .. ',"failed",{"group":' .. cjson.encode(group) .. ',"worker":""}]')
  remove_from_indexes(now, jid, state, queue, job[Job.throttles])
  call('publish', Keys.on_log, need('failure/event')(jid, group, message, ''))
  if call('zscore', Keys.tracked, jid) then call('publish', Keys.on_failed, jid) end
  -- If its lock was revoked, the job still names its last holder: remove the job from that worker's list.
  if worker ~= '' then call('zrem', Keys.worker .. worker .. Keys.held, jid) end
  call('hmset', key, 'state', 'failed', 'worker', '', 'expires', '', 'failure',
    need('failure/encode')(group, message, seconds, ''))
  if job[Job.grace] then call('hdel', key, 'grace') end
  if job[Job.scheduled] then call('hdel', key, 'scheduled') end
  need('failure/enter')(now, jid, group, queue)
  if age then need('failure/forget_old')(now, t, {jid}, age) end
  return jid
end
