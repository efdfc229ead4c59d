-- Announces that a worker no longer holds a job.
-- Takes: jid worker
-- Publishes: `lock_lost` to the worker and to the log
return function(jid, worker)
  local message = '{"jid":' .. cjson.encode(jid) .. ',"event":"lock_lost","worker":' .. cjson.encode(worker) .. '}'
  redis.call('publish', Keys.worker .. worker, message)
  redis.call('publish', Keys.on_log, message)
end
