-- What an old script does to the classic keys, said once more and plainly: it knows no lanes, no
-- throttles and no payload sets. Same calling convention, same texts where tests read them. Statistics,
-- events, histories, tags and tracking are left out: no extension reads them.

local call = redis.call
local command, now = ARGV[1], tonumber(ARGV[2])

local function job(jid) return 'ql:j:' .. jid end
local function part(queue, name) return 'ql:q:' .. queue .. '-' .. name end
local function get(jid, field) return call('hget', job(jid), field) end
local function set(jid, ...) call('hmset', job(jid), ...) end

local function to_work(jid, queue)
  set(jid, 'state', 'waiting')
  call('zadd', part(queue, 'work'), (tonumber(get(jid, 'priority')) or 0) - now / 1e10, jid)
end

-- Puts a job that is in no set where its dependencies and its delay want it.
local function place(jid, queue, delay)
  if call('scard', job(jid) .. '-dependencies') > 0 then
    set(jid, 'state', 'depends')
    if delay > 0 then set(jid, 'scheduled', now + delay) end
    call('zadd', part(queue, 'depends'), now, jid)
  elseif delay > 0 then
    set(jid, 'state', 'scheduled')
    call('zadd', part(queue, 'scheduled'), now + delay, jid)
  else
    to_work(jid, queue)
  end
end

local function out_of_queue(jid, queue)
  for _, name in ipairs({'work', 'locks', 'scheduled', 'depends'}) do
    call('zrem', part(queue, name), jid)
  end
end

local function out_of_worker(jid)
  local worker = get(jid, 'worker')
  if worker and worker ~= '' then call('zrem', 'ql:w:' .. worker .. ':jobs', jid) end
end

local function out_of_failures(jid)
  if get(jid, 'state') ~= 'failed' then return end
  local group = cjson.decode(get(jid, 'failure')).group
  call('lrem', 'ql:f:' .. group, 0, jid)
  if call('llen', 'ql:f:' .. group) == 0 then call('srem', 'ql:failures', group) end
end

local function to_failures(jid, group, message)
  local failure = cjson.encode({group = group, message = message, when = math.floor(now), worker = ''})
  set(jid, 'state', 'failed', 'worker', '', 'expires', '', 'failure', failure)
  call('sadd', 'ql:failures', group)
  call('lpush', 'ql:f:' .. group, jid)
end

local function add_dependencies(jid, jids)
  for _, other in ipairs(jids) do
    local state = get(other, 'state')
    if state and state ~= 'complete' then
      call('sadd', job(other) .. '-dependents', jid)
      call('sadd', job(jid) .. '-dependencies', other)
    end
  end
end

-- Pairs of words from a position on.
local function options(from)
  local found = {}
  for i = from, #ARGV - 1, 2 do found[ARGV[i]] = ARGV[i + 1] end
  return found
end

-- Refuses unless the worker holds the job.
local function held(jid, worker)
  local state = get(jid, 'state')
  if not state then error('Foreign(): Job ' .. jid .. ' does not exist') end
  if state ~= 'running' then error('Foreign(): Job ' .. jid .. ' is not currently running: ' .. state) end
  if get(jid, 'worker') ~= worker then
    error('Foreign(): Job ' .. jid .. ' has been handed out to another worker: ' .. get(jid, 'worker'))
  end
end

local commands = {}

-- me queue jid klass data delay [priority p] [retries n] [depends json]
function commands.put()
  local queue, jid, delay, given = ARGV[4], ARGV[5], tonumber(ARGV[8]), options(9)
  local state, old = get(jid, 'state'), get(jid, 'queue')
  local depends = given.depends and cjson.decode(given.depends) or {}
  if #depends > 0 then
    for _, other in ipairs(call('smembers', job(jid) .. '-dependencies')) do
      call('srem', job(other) .. '-dependents', jid)
      call('srem', job(jid) .. '-dependencies', other)
    end
  end
  if state then
    if old then out_of_queue(jid, old) end
    out_of_worker(jid)
    call('zrem', 'ql:completed', jid)
    out_of_failures(jid)
  end
  local retries = given.retries or get(jid, 'retries') or 5
  set(jid, 'jid', jid, 'klass', ARGV[6], 'data', ARGV[7], 'priority', given.priority or get(jid, 'priority') or 0,
    'tags', '{}', 'state', 'waiting', 'worker', '', 'expires', 0, 'queue', queue, 'retries', retries,
    'remaining', retries, 'time', now)
  call('rpush', job(jid) .. '-history', cjson.encode({math.floor(now), 'put', {q = queue}}))
  add_dependencies(jid, depends)
  place(jid, queue, delay)
  if not call('zscore', 'ql:queues', queue) then call('zadd', 'ql:queues', now, queue) end
  return jid
end

-- queue worker count
function commands.pop()
  local queue, worker, count = ARGV[3], ARGV[4], tonumber(ARGV[5])
  local locks, work, scheduled = part(queue, 'locks'), part(queue, 'work'), part(queue, 'scheduled')
  local grace = tonumber(call('hget', 'ql:config', 'grace-period') or 10)
  if call('sismember', 'ql:paused_queues', queue) == 1 then return '{}' end
  local found = {}
  for _, jid in ipairs(call('zrangebyscore', locks, '-inf', now, 'limit', 0, count)) do
    out_of_worker(jid)
    if get(jid, 'grace') ~= '1' and grace > 0 then
      -- The first time: the holder has the grace period to answer.
      set(jid, 'grace', 1)
      call('zadd', locks, now + grace, jid)
    else
      call('hdel', job(jid), 'grace')
      if call('hincrby', job(jid), 'remaining', -1) < 0 then
        out_of_queue(jid, queue)
        to_failures(jid, 'failed-retries-' .. queue, 'Job exhausted retries in queue "' .. queue .. '"')
      else
        found[#found + 1] = jid
      end
    end
  end
  local room = count - #found
  for _, jid in ipairs(call('zrangebyscore', scheduled, 0, now, 'limit', 0, room)) do
    call('zrem', scheduled, jid)
    to_work(jid, queue)
  end
  if room > 0 then
    for _, jid in ipairs(call('zrevrange', work, 0, room - 1)) do found[#found + 1] = jid end
  end
  local expires, jobs = now + 60, {}
  for i, jid in ipairs(found) do
    set(jid, 'state', 'running', 'worker', worker, 'expires', expires, 'time', now)
    call('zadd', 'ql:w:' .. worker .. ':jobs', expires, jid)
    call('zadd', locks, expires, jid)
    call('zrem', work, jid)
    jobs[i] = {jid = jid, queue = queue, data = get(jid, 'data'), worker = worker}
  end
  call('zadd', 'ql:workers', now, worker)
  return cjson.encode(jobs)
end

-- jid worker queue data [next q] [delay s] [depends json]
function commands.complete()
  local jid, worker, queue, given = ARGV[3], ARGV[4], ARGV[5], options(7)
  held(jid, worker)
  if get(jid, 'queue') ~= queue then error('Foreign(): Job ' .. jid .. ' running in another queue: ') end
  out_of_queue(jid, queue)
  out_of_worker(jid)
  local next_queue = given.next
  set(jid, 'data', ARGV[6], 'worker', '', 'failure', '{}', 'expires', 0, 'remaining', get(jid, 'retries'),
    'time', now, 'queue', next_queue or '', 'state', next_queue and 'waiting' or 'complete')
  if next_queue then
    add_dependencies(jid, given.depends and cjson.decode(given.depends) or {})
    place(jid, next_queue, tonumber(given.delay or 0))
    if not call('zscore', 'ql:queues', next_queue) then call('zadd', 'ql:queues', now, next_queue) end
    return get(jid, 'state')
  end
  call('zadd', 'ql:completed', now, jid)
  for _, other in ipairs(call('smembers', job(jid) .. '-dependents')) do
    call('srem', job(other) .. '-dependencies', jid)
    local own = get(other, 'queue')
    if own and call('scard', job(other) .. '-dependencies') == 0 then
      call('zrem', part(own, 'depends'), other)
      local due = get(other, 'scheduled')
      if due then
        call('hdel', job(other), 'scheduled')
        set(other, 'state', 'scheduled')
        call('zadd', part(own, 'scheduled'), due, other)
      else
        to_work(other, own)
      end
    end
  end
  call('del', job(jid) .. '-dependents')
  return 'complete'
end

-- jid worker group message [data]
function commands.fail()
  local jid, worker, group, message, data = ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7]
  held(jid, worker)
  out_of_worker(jid)
  out_of_queue(jid, get(jid, 'queue'))
  if data then set(jid, 'data', data) end
  to_failures(jid, group, message)
  return jid
end

-- jid queue worker [delay]
function commands.retry()
  local jid, queue, worker, delay = ARGV[3], ARGV[4], ARGV[5], tonumber(ARGV[6] or 0)
  held(jid, worker)
  out_of_worker(jid)
  out_of_queue(jid, get(jid, 'queue'))
  call('hdel', job(jid), 'grace')
  local remaining = call('hincrby', job(jid), 'remaining', -1)
  if remaining < 0 then
    to_failures(jid, 'failed-retries-' .. queue, 'Job exhausted retries in queue "' .. queue .. '"')
  else
    place(jid, queue, delay)
  end
  return remaining
end

-- jid …
function commands.cancel()
  local given = {}
  for i = 3, #ARGV do given[ARGV[i]] = true end
  for jid in pairs(given) do
    for _, other in ipairs(call('smembers', job(jid) .. '-dependents')) do
      if not given[other] then
        error('Foreign(): ' .. jid .. ' is a dependency of ' .. other .. ' but is not mentioned to be canceled')
      end
    end
  end
  for i = 3, #ARGV do
    local jid = ARGV[i]
    local state, queue = get(jid, 'state'), get(jid, 'queue')
    if state and state ~= 'complete' then
      out_of_worker(jid)
      out_of_queue(jid, queue)
      for _, other in ipairs(call('smembers', job(jid) .. '-dependencies')) do
        call('srem', job(other) .. '-dependents', jid)
      end
      out_of_failures(jid)
      call('del', job(jid), job(jid) .. '-dependencies', job(jid) .. '-history')
    end
  end
  return {unpack(ARGV, 3)}
end

-- queue group [count]: the oldest failures
function commands.unfail()
  local queue, group, count = ARGV[3], ARGV[4], tonumber(ARGV[5] or 25)
  local jids = call('lrange', 'ql:f:' .. group, -count, -1)
  for _, jid in ipairs(jids) do
    set(jid, 'worker', '', 'expires', 0, 'queue', queue, 'remaining', get(jid, 'retries'))
    to_work(jid, queue)
  end
  call('ltrim', 'ql:f:' .. group, 0, -count - 1)
  if call('llen', 'ql:f:' .. group) == 0 then call('srem', 'ql:failures', group) end
  return #jids
end

return commands[command]()
