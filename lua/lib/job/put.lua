-- Puts a job, new or old, into a queue. The caller has checked everything.
-- Takes: now; t; seconds; the job; its stored fields. The job has `me` (who puts it), `queue`, `jid`, `klass`, `data`
--   and `delay`, and may have: priority, retries (numbers), tags (list), depends (all given jids), pending (those to
--   wait for), kept (a dependency that stays), ids and gate (the throttles and throttle/gate), fields (further ones to
--   store), limit (the setting `max-job-history`, if the caller has read it), related (false if the caller has seen
--   that it has no dependencies, is not tracked, and has no time of a failure of an earlier job of its jid); and to
--   restore a job: due (a time), history (entries), remaining, spawned_from_jid, failed (group, when, text), entry (a
--   note, for the history)
-- Result: the state
-- Publishes: `put` to the log; `lock_lost` to a holder; the jid to `put` if tracked; as throttle/hold
local Old = Fields('state', 'queue', 'worker', 'priority', 'tags', 'retries', 'failure', 'history', 'grace',
  'scheduled')

return function(now, t, seconds, job, old)
  local call, encode, queue, jid = redis.call, cjson.encode, job.queue, job.jid
  local key = Keys.job .. jid
  local state, worker = old[Old.state], old[Old.worker]
  local any = job.related
  if any == nil then any = call('exists', key .. Keys.dependencies, Keys.tracked, Keys.failed_times) > 0 end
  local blockers = any and call('smembers', key .. Keys.dependencies)
  local blocked = blockers and #blockers or 0
  local tracked = any and call('zscore', Keys.tracked, jid)
  local pending, history = job.pending, key .. Keys.history
  if pending and pending[1] then
    -- These two steps come first, because a key of another type makes them fail before anything is written.
    call('llen', history)
    blocked = blocked + need('dependency/link')(jid, pending)
  end
  if old[Old.history] then need('history/migrate')(jid, old[Old.history]) end
  -- Write the history first: it is the key that another core might have created with another type.
  local quoted = encode(queue)
  local entry = '[' .. seconds .. ',"put",{"q":' .. quoted .. '}]'
  if job.history then
    call('del', history)
    if job.history[1] then need('value/in_chunks')('rpush', history, job.history, 1, #job.history) end
  end
  local length
  if job.entry then
    length = call('rpush', history, entry, job.entry)
  else
    length = call('rpush', history, entry)
  end
  if length > 1 then
    local limit = job.limit
    if limit == nil then limit = redis.pcall('hget', Keys.config, 'max-job-history') end
    limit = tonumber(limit or 100) or 100
    if length > limit then need('history/trim')(history, length, limit) end
  end

  local given = job.depends
  if blockers and given and given[1] then
    local keep = {}
    for i = 1, #given do keep[given[i]] = true end
    if job.kept then keep[job.kept] = true end
    blocked = blocked - need('dependency/unlink')(jid, need('value/without')(blockers, keep))
  end
  if any then need('failure/forget_times')({jid}) end
  call('publish', Keys.on_log, '{"jid":' .. encode(jid) .. ',"event":"put","queue":' .. quoted .. '}')

  local priority, retries = job.priority, job.retries
  local remaining = job.remaining or retries and need('value/whole_tries')(retries)
  local tags, timed, stored = job.tags, false, '{}'
  if state or old[Old.tags] or worker then
    local from = old[Old.queue]
    if from then need('queue/remove_from_state_set')(jid, state, from) end
    if state == 'complete' then
      call('zrem', Keys.completed, jid)
      if php then need('job/unlist_complete')(jid) end
    end
    if state == 'failed' then need('failure/leave')(jid, old[Old.failure], from or '') end
    if worker and worker ~= '' then
      call('zrem', Keys.worker .. worker .. Keys.held, jid)
      if worker ~= job.me then need('job/lock_lost')(jid, worker) end
    end
    local number = need('value/number')
    priority, retries = priority or number(old[Old.priority]), retries or number(old[Old.retries])
    remaining = remaining or retries and need('value/whole_tries')(retries)
    if old[Old.tags] and old[Old.tags] ~= '{}' then
      local before, keep = need('job/tags')(old[Old.tags]), {}
      tags = tags or before
      for i = 1, #tags do keep[tags[i]] = true end
      need('job/untag')(jid, need('value/without')(before, keep))
    end
  end
  if tags and tags[1] then
    need('job/index_tags')(t, jid, tags)
    stored = encode(tags)
  end

  local due = job.due or (job.delay > 0 and string.format('%.17g', now + job.delay))
  local placed
  if job.failed then
    placed = 'failed'
  elseif blocked > 0 then
    placed = 'depends'
  else
    placed = due and 'scheduled' or 'waiting'
  end
  local full = job.ids and placed == 'waiting' and job.gate.full(jid, job.ids)
  local stamp = string.format('%.20f', now)
  if job.fields then
    call('hmset', key, 'jid', jid, 'klass', job.klass, 'data', job.data, 'priority', priority or '0', 'tags', stored,
      'state', placed, 'worker', '', 'expires', job.failed and '' or '0', 'queue', queue, 'retries', retries or '5',
      'remaining', remaining or '5', 'time', stamp, unpack(job.fields))
  else
    call('hmset', key, 'jid', jid, 'klass', job.klass, 'data', job.data, 'priority', priority or '0', 'tags', stored,
      'state', placed, 'worker', '', 'expires', job.failed and '' or '0', 'queue', queue, 'retries', retries or '5',
      'remaining', remaining or '5', 'time', stamp)
  end
  if full then
    need('throttle/hold')(seconds, jid, queue, full, string.format('%.17g', -need('queue/score')(now, priority)))
    placed = 'throttled'
  elseif placed ~= 'failed' then
    timed = need('queue/place')(now, t, jid, queue, placed, placed == 'waiting' and priority or due)
  else
    local failed = job.failed
    call('hset', key, 'failure', failed.text)
    need('stats/count')(Keys.stats .. failed.when - failed.when % 86400 .. ':' .. queue, 'failed', 1)
    call('sadd', Keys.failures, failed.group)
    call('lpush', Keys.group .. failed.group, jid)
    -- Count the age of a restored failure from now, so that the next failure does not delete the job for its age.
    local age = need('failure/age')(redis.pcall('hget', Keys.config, 'jobs-failed-history'))
    if age then call('zadd', Keys.failed_times, t, jid) end
  end
  if job.spawned_from_jid then call('hset', key, 'spawned_from_jid', job.spawned_from_jid) end
  if old[Old.grace] then call('hdel', key, 'grace') end
  if old[Old.scheduled] and not timed then call('hdel', key, 'scheduled') end
  call('zadd', Keys.queues, 'NX', t, queue)
  if tracked then call('publish', Keys.on_put, jid) end
  return placed
end
