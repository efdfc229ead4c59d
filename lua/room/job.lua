-- Reads jobs and writes them as the JSON that clients know.
-- One damaged field never breaks a reply: it is shown as empty.
local call, encode = redis.call, cjson.encode
local Job = {}

-- Places of the stored fields in what `Job.read` answers.
Job.jid, Job.klass, Job.state, Job.queue, Job.worker, Job.priority = 1, 2, 3, 4, 5, 6
Job.expires, Job.retries, Job.remaining, Job.data, Job.tags, Job.failure = 7, 8, 9, 10, 11, 12
Job.spawned, Job.history, Job.time, Job.grace = 13, 14, 15, 16

-- Reads the stored fields of a job. The first is false if there is no such job.
function Job.read(jid)
  return call('hmget', Keys.job .. jid, 'jid', 'klass', 'state', 'queue', 'worker', 'priority', 'expires', 'retries',
    'remaining', 'data', 'tags', 'failure', 'spawned_from_jid', 'history', 'time', 'grace')
end

-- Texts that many jobs of a reply share, by what they are made from.
local quoted, numbers, floors, lists, failures, events = {}, {}, {}, {}, {}, {}

local function quote(text)
  if not text then return 'false' end
  local json = quoted[text]
  if not json then
    json = encode(text)
    quoted[text] = json
  end
  return json
end

-- A number with 14 digits, as cjson writes it; 0 where it is none.
local function number(text)
  local json = numbers[text]
  if not json then
    local n = tonumber(text)
    if not n or n - n ~= 0 then n = 0 end
    json = '' .. n
    numbers[text] = json
  end
  return json
end

local function whole(text)
  local json = floors[text]
  if not json then
    local n = tonumber(text)
    if not n or n - n ~= 0 then n = 0 end
    json = '' .. math.floor(n)
    floors[text] = json
  end
  return json
end

-- A stored document, if it parses to a table, else `{}`.
local function document(text, known)
  if not text or text == '{}' or text == '[]' then return '{}' end
  local json = known[text]
  if not json then
    local ok, value = pcall(cjson.decode, text)
    if ok and type(value) == 'table' then ok, json = pcall(encode, value) else ok = false end
    if not ok then json = '{}' end
    known[text] = json
  end
  return json
end

-- One history entry as an object, or '' if it does not parse. Entries of the usual shapes are
-- taken apart as text, which costs a third of decoding and encoding them.
local function event(entry)
  local when, what, rest = string.match(entry, '^%[(%-?%d+),("[%w%-]+")(.*)%]$')
  if when then
    if rest == '' then return '{"when":' .. when .. ',"what":' .. what .. '}' end
    -- `q`, `worker` or `group` alone, or `group` and `worker`: what the core itself writes.
    local item = string.match(rest, '^,{("[qwg][orkeup]*":"[^"\\%c]*")}$')
      or string.match(rest, '^,{("group":"[^"\\%c]*","worker":"[^"\\%c]*")}$')
    if item then return '{"when":' .. when .. ',"what":' .. what .. ',' .. item .. '}' end
  end
  local ok, list = pcall(cjson.decode, entry)
  if not ok or type(list) ~= 'table' or type(list[1]) ~= 'number' or type(list[2]) ~= 'string' then return '' end
  local item = list[3]
  if type(item) ~= 'table' then item = {} end
  item.when, item.what = list[1], list[2]
  local fine, json = pcall(encode, item)
  return fine and json or ''
end

local function history(list)
  local count = 0
  local parts = {}
  for i = 1, #list do
    local entry = list[i]
    local json = events[entry]
    if not json then
      json = event(entry)
      events[entry] = json
    end
    if json ~= '' then
      count = count + 1
      parts[count] = json
    end
  end
  if count == 0 then
    return '{}'
  elseif count == 1 then
    return '[' .. parts[1] .. ']'
  elseif count == 2 then
    return '[' .. parts[1] .. ',' .. parts[2] .. ']'
  end
  return '[' .. table.concat(parts, ',') .. ']'
end

local function members(key)
  local list = call('smembers', key)
  if not list[1] then return '{}' end
  table.sort(list)
  return encode(list)
end

-- Returns a job as JSON. `job`: what `read` answered; `tracked`: true or false; `related`: whether
-- it may have dependencies or dependents.
function Job.render(jid, job, tracked, related)
  local key = Keys.job .. jid
  if job[14] then need('history').migrate(jid, job[14]) end
  local list = history(call('lrange', key .. Keys.history, 0, -1))
  local dependents, dependencies = '{}', '{}'
  if related then
    dependents, dependencies = members(key .. Keys.dependents), members(key .. Keys.dependencies)
  end
  return '{"jid":' .. encode(jid) .. ',"klass":' .. quote(job[2]) .. ',"state":' .. quote(job[3]) .. ',"queue":' ..
    quote(job[4]) .. ',"worker":' .. quote(job[5] or '') .. ',"tracked":' .. (tracked and 'true' or 'false') ..
    (job[6] and ',"priority":' .. number(job[6]) or '') .. ',"expires":' .. number(job[7] or '') ..
    (job[8] and ',"retries":' .. number(job[8]) or '') .. ',"remaining":' .. whole(job[9] or '') .. ',"data":' ..
    (job[10] and encode(job[10]) or 'false') .. ',"tags":' .. document(job[11], lists) .. ',"history":' .. list ..
    ',"failure":' .. document(job[12], failures) .. ',"spawned_from_jid":' .. quote(job[13]) .. ',"dependents":' ..
    dependents .. ',"dependencies":' .. dependencies .. '}'
end

-- Returns whether any of the jobs has dependencies or dependents: one command for all.
function Job.related(jids, first, last)
  local keys, n = {}, 0
  for i = first, last do
    local key = Keys.job .. jids[i]
    keys[n + 1], keys[n + 2] = key .. Keys.dependents, key .. Keys.dependencies
    n = n + 2
    if n == 4000 or i == last then
      if call('exists', unpack(keys, 1, n)) > 0 then return true end
      n = 0
    end
  end
  return false
end

-- Returns texts joined. Twenty at a time by one `..`: Redis' Lua hashes every byte of every
-- text it makes, and `table.concat` makes each three times.
local join
join = function(list, count)
  if count == 1 then return list[1] end
  local all = {}
  for from = 1, count, 20 do
    for i = count + 1, from + 19 do list[i] = '' end
    all[#all + 1] = list[from] .. list[from + 1] .. list[from + 2] .. list[from + 3] .. list[from + 4] ..
      list[from + 5] .. list[from + 6] .. list[from + 7] .. list[from + 8] .. list[from + 9] .. list[from + 10] ..
      list[from + 11] .. list[from + 12] .. list[from + 13] .. list[from + 14] .. list[from + 15] ..
      list[from + 16] .. list[from + 17] .. list[from + 18] .. list[from + 19]
  end
  if #all < 2 then return all[1] end
  return join(all, #all)
end

-- Returns which of the jobs are tracked, as a set. One command where nothing is tracked.
function Job.tracked(jids, count)
  local set = {}
  if call('exists', Keys.tracked) == 1 then
    for i = 1, count do
      if call('zscore', Keys.tracked, jids[i]) then set[jids[i]] = true end
    end
  end
  return set
end

-- Returns jobs as a JSON array, `{}` if there are none. `jobs[i]` is what `read` answered for
-- `jids[i]`; `tracked` the set of those that are.
function Job.render_all(jids, jobs, count, tracked)
  if count == 0 then return '{}' end
  local related = Job.related(jids, 1, count)
  local parts = {}
  for i = 1, count do
    local jid = jids[i]
    parts[i] = (i == 1 and '[' or ',') .. Job.render(jid, jobs[i], tracked[jid], related)
  end
  parts[count] = parts[count] .. ']'
  return join(parts, count)
end

-- Returns those of the jobs that exist, as a JSON array.
function Job.render_existing(jids)
  local found, jobs, count = {}, {}, 0
  for i = 1, #jids do
    local job = Job.read(jids[i])
    if job[1] then
      count = count + 1
      found[count], jobs[count] = jids[i], job
    end
  end
  return Job.render_all(found, jobs, count, Job.tracked(found, count))
end

return Job
