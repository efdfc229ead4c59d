-- Where a job stands: in which set of its queue, and with which worker.
local call = redis.call
local Place = {}

-- Takes a job out of the set that its state names; only if it is not there, out of the others.
function Place.leave(jid, state, queue)
  local base = Keys.queue .. queue
  local first
  if state == 'waiting' or state == 'stalled' then
    first = Keys.work
  elseif state == 'running' then
    first = Keys.locks
  elseif state == 'scheduled' then
    first = Keys.scheduled
  elseif state == 'depends' then
    first = Keys.depends
  elseif state == 'failed' or state == 'complete' then
    return
  end
  if first and call('zrem', base .. first, jid) == 1 then return end
  call('zrem', base .. Keys.work, jid)
  call('zrem', base .. Keys.locks, jid)
  call('zrem', base .. Keys.depends, jid)
  call('zrem', base .. Keys.scheduled, jid)
end

-- Tells a worker, and the log, that it no longer holds a job.
function Place.lock_lost(jid, worker)
  local message = '{"jid":' .. cjson.encode(jid) .. ',"event":"lock_lost","worker":' .. cjson.encode(worker) .. '}'
  call('publish', Keys.worker .. worker, message)
  call('publish', Keys.on_log, message)
end

return Place
