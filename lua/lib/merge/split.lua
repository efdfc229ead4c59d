-- Splits a merge job that failed for good: it keeps its first payload. A new job with full retries gets the others, and
-- the old job's place in the lane. With one payload, nothing happens.
-- Takes: now; t; seconds; jid; queue
-- Publishes: `put` to the log
local Job = Fields('klass', 'priority', 'tags', 'retries', 'key')

return function(now, t, seconds, jid, queue)
  local call, encode, key = redis.call, cjson.encode, Keys.job .. jid
  local set = key .. Keys.payloads
  if call('zcard', set) < 2 then return end
  local first = call('zrange', set, 0, 0, 'WITHSCORES')
  local stem, n = string.match(jid, '^(.*)~(%d+)$')
  -- The new jid is the old one with a number, `~1` and so on. Lua can count up to 2^53: start over beyond 15 digits.
  if not stem or #n > 15 then stem, n = jid, 0 end
  local name
  repeat
    n = n + 1
    name = stem .. '~' .. string.format('%.0f', n)
  until call('exists', Keys.job .. name) == 0
  local other = Keys.job .. name
  call('zunionstore', other .. Keys.payloads, 1, set)
  call('zrem', other .. Keys.payloads, first[1])
  call('del', set)
  call('zadd', set, first[2], first[1])
  call('hset', key, 'data', '[' .. first[1] .. ']')

  local job = call('hmget', key, unpack(Job))
  local retries, lane, quoted = need('value/number')(job[Job.retries]) or 5, job[Job.key], encode(queue)
  call('rpush', other .. Keys.history, '[' .. seconds .. ',"put",{"q":' .. quoted .. '}]')
  call('publish', Keys.on_log, '{"jid":' .. encode(name) .. ',"event":"put","queue":' .. quoted .. '}')
  local tags = need('job/tags')(job[Job.tags])
  need('job/index_tags')(t, name, tags)
  call('hmset', other, 'jid', name, 'klass', job[Job.klass] or '', 'data', need('merge/compose')(name),
    'priority', job[Job.priority] or '0', 'tags', tags[1] and encode(tags) or '{}', 'state', 'waiting', 'worker', '',
    'expires', '0', 'queue', queue, 'retries', retries, 'remaining', need('value/whole_tries')(retries),
    'time', string.format('%.20f', now), 'key', lane, 'dup', 'merge')
  for _, field in ipairs({'rescore', 'throttles', 'hold', 'backoff'}) do
    local value = call('hget', key, field)
    if value then call('hset', other, field, value) end
  end
  need('queue/place')(now, t, name, queue, 'waiting', job[Job.priority])
  call('zadd', Keys.queues, 'NX', t, queue)

  local members = Keys.lane .. lane
  local rank = call('zrank', members, jid)
  local behind = rank and call('zrange', members, rank + 1, rank + 1)[1]
  call('zadd', members, rank and call('zscore', members, jid) or 1, name)
  call('zrem', members, jid)
  if behind and need('dependency/unlink')(behind, {jid}) == 1 then need('dependency/link')(behind, {name}) end
end
