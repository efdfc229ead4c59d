-- Failed jobs: the lists `ql:f:<group>`, their names, and the counters of a day.
local call = redis.call
local Failure = {}

-- Returns the failure of a stored text as a table, empty if there is none that parses.
function Failure.read(text)
  if not text or text == '{}' then return {} end
  local ok, failure = pcall(cjson.decode, text)
  if ok and type(failure) == 'table' then return failure end
  return {}
end

-- Returns the stored form of a failure.
function Failure.text(group, message, when, worker)
  return '{"group":' .. cjson.encode(group) .. ',"message":' .. cjson.encode(message) .. ',"when":' .. when ..
    ',"worker":' .. cjson.encode(worker) .. '}'
end

-- Returns the key of the counters of the day of `when`.
function Failure.day(when, queue)
  return Keys.stats .. when - when % 86400 .. ':' .. queue
end

-- Enters a job that failed now.
function Failure.enter(now, jid, group, queue)
  local day = Failure.day(now, queue)
  call('hincrby', day, 'failures', 1)
  call('hincrby', day, 'failed', 1)
  call('sadd', Keys.failures, group)
  call('lpush', Keys.group .. group, jid)
end

-- Takes `n` off the failed jobs of a day. A counter that is missing, lost or no number counts
-- as 0 and never falls below it.
function Failure.uncount(when, queue, n)
  when = tonumber(when)
  if not when or when - when ~= 0 then return end
  local day = Failure.day(when, queue)
  local left = redis.pcall('hincrby', day, 'failed', -n)
  if type(left) ~= 'number' or left < 0 then redis.pcall('hset', day, 'failed', 0) end
end

-- Forgets a group whose list is empty.
function Failure.close(group)
  if call('exists', Keys.group .. group) == 0 then call('srem', Keys.failures, group) end
end

-- Takes a job that stops being failed off its list and out of the counter of the queue in
-- which it failed. A failure that names no list, or the wrong one, makes every list be asked.
function Failure.leave(jid, text, queue)
  local failure = Failure.read(text)
  local group = failure.group
  if type(group) == 'string' and call('lrem', Keys.group .. group, 1, jid) > 0 then
    Failure.close(group)
  else
    local groups = call('smembers', Keys.failures)
    for i = 1, #groups do
      if call('lrem', Keys.group .. groups[i], 0, jid) > 0 then Failure.close(groups[i]) end
    end
  end
  Failure.uncount(failure.when, queue, 1)
end

-- Takes jobs off one list, reading it once from its oldest end until all are found, and writing
-- back what it passed. `wanted`: a set of jids, `count` of them; those that are found become false.
local function sweep(group, wanted, count)
  local list = Keys.group .. group
  local length = call('llen', list)
  local kept, passed = {}, 0
  while count > 0 and passed < length do
    local first = math.max(0, length - passed - 1000)
    local page = call('lrange', list, first, length - passed - 1)
    for i = #page, 1, -1 do
      local found = wanted[page[i]]
      if found == nil then
        kept[#kept + 1] = page[i]
      elseif found then
        wanted[page[i]] = false
        count = count - 1
      end
    end
    passed = length - first
  end
  if passed == length then
    call('del', list)
  else
    call('ltrim', list, 0, length - passed - 1)
  end
  local back = {}
  for i = #kept, 1, -1 do back[#back + 1] = kept[i] end
  need('many')('rpush', list, back, 1, #back)
  Failure.close(group)
end

-- Takes many jobs that stop being failed off their lists and out of the counters.
-- `jobs`: {jid, stored failure, queue in which it failed}.
function Failure.leave_all(jobs)
  local groups, days, unnamed = {}, {}, {}
  for i = 1, #jobs do
    local jid, failure, queue = jobs[i][1], Failure.read(jobs[i][2]), jobs[i][3]
    local group = failure.group
    if type(group) == 'string' then
      local wanted = groups[group] or {count = 0, jids = {}}
      if wanted.jids[jid] == nil then
        wanted.count = wanted.count + 1
        wanted.jids[jid] = true
      end
      groups[group] = wanted
    else
      unnamed[#unnamed + 1] = jid
    end
    local when = tonumber(failure.when)
    if when and when - when == 0 then
      local day = when - when % 86400
      local id = day .. ':' .. queue
      local entry = days[id] or {day, queue, 0}
      entry[3] = entry[3] + 1
      days[id] = entry
    end
  end
  for group, wanted in pairs(groups) do
    if wanted.count < 4 then
      for jid in pairs(wanted.jids) do
        if call('lrem', Keys.group .. group, 1, jid) == 0 then unnamed[#unnamed + 1] = jid end
      end
      Failure.close(group)
    else
      sweep(group, wanted.jids, wanted.count)
      for jid, missing in pairs(wanted.jids) do
        if missing then unnamed[#unnamed + 1] = jid end
      end
    end
  end
  if unnamed[1] then
    local names = call('smembers', Keys.failures)
    for i = 1, #names do
      local wanted = {}
      for k = 1, #unnamed do wanted[unnamed[k]] = true end
      sweep(names[i], wanted, #unnamed)
    end
  end
  for _, entry in pairs(days) do Failure.uncount(entry[1], entry[2], entry[3]) end
end

return Failure
