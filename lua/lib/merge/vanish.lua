-- Deletes a merge job whose payloads another job has taken. Dependents of the deleted job become dependents of the
-- other job. A dependent on which the other job depends loses the dependency instead.
-- Takes: now; jid; jid of the other job; whether the caller removes the deleted job from its failure list
-- Publishes: `merged` to the channel of the extensions
local Job = Fields('state', 'queue', 'failure', 'tags', 'throttles', 'key')

return function(now, jid, into, apart)
  local call, key, encode = redis.call, Keys.job .. jid, cjson.encode
  local job = call('hmget', key, unpack(Job))
  local state, queue = job[Job.state], job[Job.queue] or ''
  -- Keep the other job in the lane, even if it has just failed: a job with its other payloads takes its place later.
  if job[Job.key] then need('lane/leave')(now, job[Job.key], jid, false, into) end
  if job[Job.throttles] then need('throttle/leave')(jid, state, queue, job[Job.throttles]) end
  need('queue/remove_from_state_set')(jid, state, queue)
  if state == 'failed' and not apart then need('failure/leave')(jid, job[Job.failure], queue) end
  local unlink = need('dependency/unlink')
  local function relink(name)
    unlink(name, {jid})
    if name == into or need('dependency/find_cycle')(name, {into}, true) ~= nil then return end
    need('dependency/link')(name, {into})
  end
  local dependents, failed = need('dependency/waiting_dependents')(jid)
  for _, name in ipairs(failed) do relink(name) end
  for _, name in ipairs(dependents) do
    relink(name)
    if call('exists', Keys.job .. name .. Keys.dependencies) == 0 then
      local waiting = call('hmget', Keys.job .. name, 'queue', 'priority', 'scheduled')
      need('dependency/release_job')(now, name, waiting[1] or '', waiting[2], waiting[3])
    end
  end
  unlink(jid, call('smembers', key .. Keys.dependencies))
  need('job/untag')(jid, need('job/tags')(job[Job.tags]))
  call('del', key, key .. Keys.history, key .. Keys.dependencies, key .. Keys.dependents, key .. Keys.payloads)
  call('publish', Keys.on_ext, '{"jid":' .. encode(jid) .. ',"event":"merged","into":' .. encode(into) .. '}')
end
