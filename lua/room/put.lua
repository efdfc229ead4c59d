-- Puts a job: a new one, or one that exists, into a queue.
local call = redis.call
local Put = {}

-- Returns what `write` wants to know of a job before: state, queue, worker, priority, tags,
-- retries, failure, old-style history, grace, scheduled, jid.
function Put.read(jid)
  return call('hmget', Keys.job .. jid, 'state', 'queue', 'worker', 'priority', 'tags', 'retries', 'failure',
    'history', 'grace', 'scheduled', 'jid')
end

-- Returns the number of a stored text, or `default` if it is none that can be counted with.
local function finite(text, default)
  local n = tonumber(text)
  return n and n - n == 0 and n or default
end

-- Refuses ids whose key would be another job's companion.
function Put.reserved(jid)
  local last = string.byte(jid, -1)
  return (last == 121 or last == 115)
    and (string.find(jid, '%-history$') or string.find(jid, '%-dependencies$') or string.find(jid, '%-dependents$'))
end

-- Writes a job of which everything has been checked. `old` is the answer of `read`; `o` holds
-- the options: priority, retries (numbers), tags (list of texts), depends (all given names),
-- open (those to wait for); and for restoring: due (a time), history (entries), remaining,
-- spawned_from_jid, failed (group, when, text), note (an entry).
-- Answers the state. Events: `put` to the log, `lock_lost` to a holder, the jid if tracked.
function Put.write(now, t, me, queue, jid, klass, data, delay, o, old)
  local key = Keys.job .. jid
  local state, worker = old[1], old[3]
  local blockers = call('smembers', key .. Keys.dependencies)
  local blocked = #blockers
  if old[8] then need('history').migrate(jid, old[8]) end
  -- The first write goes to the key of which another core might have made something else.
  local when, quoted = math.floor(now), cjson.encode(queue)
  local entry = '[' .. when .. ',"put",{"q":' .. quoted .. '}]'
  local history = key .. Keys.history
  local length
  if o.history then
    call('del', history)
    need('many')('rpush', history, o.history, 1, #o.history)
  end
  if o.note then
    length = call('rpush', history, entry, o.note)
  else
    length = call('rpush', history, entry)
  end
  if length > 1 then
    local History = need('history')
    History.trim(history, length, History.read_limit())
  end

  local open, given = o.open, o.depends
  if blocked > 0 and given and given[1] then
    local kept = {}
    for i = 1, #given do kept[given[i]] = true end
    for i = 1, #blockers do
      if not kept[blockers[i]] then blocked = blocked - need('depend').unlink(jid, blockers[i]) end
    end
  end
  call('publish', Keys.on_log, '{"jid":' .. cjson.encode(jid) .. ',"event":"put","queue":' .. quoted .. '}')

  if state then
    if old[2] and old[2] ~= '' then need('place').leave(jid, state, old[2]) end
    if state == 'complete' then call('zrem', Keys.completed, jid) end
    if state == 'failed' then need('failure').leave(jid, old[7], old[2] or '') end
  end
  if worker and worker ~= '' then
    call('zrem', Keys.worker .. worker .. Keys.held, jid)
    if worker ~= me then need('place').lock_lost(jid, worker) end
  end

  local stored = '{}'
  local tags, before = o.tags, old[5]
  if tags or (before and before ~= '{}') then
    local Tags = need('tags')
    before = Tags.read(before)
    tags = tags or before
    local kept = {}
    for i = 1, #tags do
      kept[tags[i]] = true
      Tags.add(t, jid, tags[i])
    end
    for i = 1, #before do
      if not kept[before[i]] then Tags.drop(jid, before[i]) end
    end
    stored = cjson.encode(tags)
  end

  local retries = o.retries or finite(old[6], 5)
  if open and open[1] then blocked = blocked + need('depend').link(jid, open) end
  local due = o.due or (delay > 0 and now + delay)
  local placed, leftover
  if o.failed then
    placed = 'failed'
  elseif blocked > 0 then
    placed = 'depends'
  else
    placed = due and 'scheduled' or 'waiting'
    leftover = old[10]
  end
  local priority = o.priority or finite(old[4], 0)
  call('hmset', key, 'jid', jid, 'klass', klass, 'data', data, 'priority', priority, 'tags', stored,
    'state', placed, 'worker', '', 'expires', o.failed and '' or '0', 'queue', queue, 'retries', retries,
    'remaining', o.remaining or math.floor(retries), 'time', string.format('%.20f', now))
  local base = Keys.queue .. queue
  if placed == 'waiting' then
    call('zadd', base .. Keys.work, priority - now / 10000000000, jid)
  elseif placed == 'scheduled' then
    call('zadd', base .. Keys.scheduled, due, jid)
  elseif placed == 'depends' then
    call('zadd', base .. Keys.depends, t, jid)
    if due then
      call('hset', key, 'scheduled', due)
    else
      leftover = old[10]
    end
  else
    call('hset', key, 'failure', o.failed.text)
    call('hincrby', need('failure').day(o.failed.when, queue), 'failed', 1)
    call('sadd', Keys.failures, o.failed.group)
    call('lpush', Keys.group .. o.failed.group, jid)
  end
  if o.spawned_from_jid then call('hset', key, 'spawned_from_jid', o.spawned_from_jid) end
  if old[9] then call('hdel', key, 'grace') end
  if leftover then call('hdel', key, 'scheduled') end
  call('zadd', Keys.queues, 'NX', t, queue)
  if call('zscore', Keys.tracked, jid) then call('publish', Keys.on_put, jid) end
  return placed
end

return Put
