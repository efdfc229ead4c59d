-- Holds a job that a throttle does not let run: state `throttled`, outside the work set. The caller removes it from
-- where it was.
-- Takes: seconds; jid; queue; the throttle that is full; order value (the negative score of the work set); the setting
--   `max-job-history`, if the caller has read it
-- Publishes: `throttled` to the channel of the extensions
return function(seconds, jid, queue, id, value, limit)
  local call, encode = redis.call, cjson.encode
  local q, throttle = encode(queue), encode(id)
  need('history/append')(jid, '[' .. seconds .. ',"throttled",{"q":' .. q .. ',"throttle":' .. throttle .. '}]', limit)
  call('zadd', Keys.queue .. queue .. Keys.throttled, value, jid)
  -- Ignore an error, which must not stop a queue: then the throttle cannot wake the job, but pops check it again.
  redis.pcall('zadd', Keys.throttle .. id .. Keys.pending, value, jid)
  call('hset', Keys.job .. jid, 'state', 'throttled')
  call('publish', Keys.on_ext, '{"jid":' .. encode(jid) .. ',"event":"throttled","queue":' .. q .. ',"throttle":' ..
    throttle .. '}')
end
