-- Tells a worker, and the log, that it no longer holds a job.
return function(jid, worker)
  local message = '{"jid":' .. cjson.encode(jid) .. ',"event":"lock_lost","worker":' .. cjson.encode(worker) .. '}'
  redis.call('publish', Keys.worker .. worker, message)
  redis.call('publish', Keys.on_log, message)
end
