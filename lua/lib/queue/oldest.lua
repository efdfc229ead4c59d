-- The oldest job of a queue that is due and has not run. Jobs of one priority stand in the order of their arrival, so
-- the oldest job is the first of its priority: up to 20 priorities are read, of waiting jobs and of jobs that throttles
-- hold. Due jobs of the schedule count from their time. Of the first 20 jobs in `depends`, a job counts if it waits
-- only for the job before it in its lane.
-- Takes: now; t; queue; queue/counts, if they are known
-- Result: since when, as text; the jid; `waiting`, or `throttled` or `ordered` if a throttle or its lane holds it, or
--   `limited` if its queue runs as many jobs as it may; then the throttle without a free slot (false if all have one),
--   or the lane. Nil if no job waits
local Behind = Fields('key', 'scheduled')
local arrival_of, is_full = need('queue/arrival'), need('queue/is_full')
local call, pcall, texts = redis.call, redis.pcall, need('value/texts')()

-- Notes a job in `found` if it is due and has waited longer than the job noted before.
local function consider(found, now, jid, since, why)
  if since and since <= now and (not found.since or since < found.since) then
    found.since, found.jid, found.why = since, jid, why
  end
end

-- The first entry of a set, in the fields of queue/counts. The size of the set is not read.
local function first_of(key, command)
  local first = call(command, key, '0', '0', 'WITHSCORES')
  return {work = 20, first = first[1], score = tonumber(first[2] or nil)}
end

-- Calls `consider` for the first job of each priority in a set. The scores of held jobs have the opposite sign.
local function by_priority(found, now, key, why, set)
  local jid, score, sign = set.first, set.score, why == 'waiting' and 1 or -1
  local most = math.min(20, set.work)
  for seen = 1, most do
    if not jid then break end
    local waiting = sign * score
    local priority = math.ceil(waiting)
    consider(found, now, jid, arrival_of(now, waiting, nil, jid), why)
    if seen == most then break end
    -- A job whose score is exactly its priority, or infinity, stands before the other jobs of its priority. Then read
    -- the next job of this priority, else the first job of the next priority.
    local below = waiting == priority and string.format('(%.17g', score) or texts[sign * (priority - 1)]
    -- ZCOUNT costs less than reading if there is no other priority, the usual case.
    if seen == 1 and call('zcount', key, sign > 0 and '-inf' or below, sign > 0 and below or '+inf') == 0 then break end
    local first
    if sign > 0 then
      first = call('zrevrangebyscore', key, below, '-inf', 'WITHSCORES', 'LIMIT', '0', '1')
    else
      first = call('zrangebyscore', key, below, '+inf', 'WITHSCORES', 'LIMIT', '0', '1')
    end
    jid, score = first[1], tonumber(first[2] or nil)
  end
end

return function(now, t, queue, counts)
  local base, found = Keys.queue .. queue, {since = false, jid = false, why = false}
  local work = base .. Keys.work
  by_priority(found, now, work, 'waiting', counts or first_of(work, 'zrevrange'))
  if not counts or counts.due > 0 then
    local due = call('zrange', base .. Keys.scheduled, '0', '0', 'WITHSCORES')
    consider(found, now, due[1], tonumber(due[2] or nil), 'waiting')
  end
  -- Read held jobs and jobs in `depends` only if there are any: usually there are none.
  if (counts and counts.throttled + counts.depends or call('exists', base .. Keys.throttled, base .. Keys.depends)) > 0
  then
    local number, held = need('value/number'), base .. Keys.throttled
    by_priority(found, now, held, 'throttled', first_of(held, 'zrange'))
    local behind = call('zrange', base .. Keys.depends, '0', '19', 'WITHSCORES')
    for i = 1, #behind, 2 do
      local jid = behind[i]
      local job = pcall('hmget', Keys.job .. jid, unpack(Behind))
      local lane = job[Behind.key]
      if lane and pcall('scard', Keys.job .. jid .. Keys.dependencies) == 1
        and not need('lane/is_first')(lane, jid) then
        local put, at = number(behind[i + 1]) or now, number(job[Behind.scheduled]) or 0
        consider(found, now, jid, math.max(put, at), 'ordered')
      end
    end
  end
  local jid, why = found.jid, found.why
  if not jid then return nil end
  local since = counts and found.since == counts.since and counts.head or string.format('%.3f', found.since)
  if why == 'ordered' then return since, jid, why, call('hget', Keys.job .. jid, 'key') end
  local stored = pcall('hget', Keys.job .. jid, 'throttles')
  local ids = type(stored) == 'string' and need('job/tags')(stored)
  for i = 1, ids and #ids or 0 do
    local id = ids[i]
    local most = need('throttle/maximum')(id)
    local taken = most ~= 0 and pcall('zcard', Keys.throttle .. id .. Keys.locks)
    if type(taken) == 'number' and taken >= most then
      return since, jid, 'throttled', id
    end
  end
  if why == 'waiting' and (not counts or counts.locked > 0) and is_full(t, queue) then why = 'limited' end
  return since, jid, why, false
end
