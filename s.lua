--!df flags=allow-undeclared-keys
local need, built
need = function(name, command)
if not command then
if name == 'job/read' then
return function(jid, use)
  if not use then return redis.pcall('hmget', 'ql:j:' .. jid, 'jid', 'klass', 'state', 'queue', 'priority', 'retries', 'remaining', 'data', 'tags', 'failure', 'spawned_from_jid', 'history', 'throttles', 'time', 'grace') end
  if use == 'shown' then return redis.pcall('hmget', 'ql:j:' .. jid, 'jid', 'klass', 'state', 'queue', 'priority', 'retries', 'remaining', 'data', 'tags', 'failure', 'spawned_from_jid', 'history', 'throttles', 'worker', 'expires') end
  return redis.pcall('hmget', 'ql:j:' .. jid, 'jid', 'klass', 'state', 'queue', 'priority', 'retries', 'remaining', 'data', 'tags', 'failure', 'spawned_from_jid', 'history', 'throttles', 'time', 'grace', 'worker', 'backoff')
end
elseif name == 'job/put' then
return function(now, t, seconds, me, queue, jid, klass, data, delay, o, old)
  local call, encode = redis.call, cjson.encode
  local key = 'ql:j:' .. jid
  local state, worker = old[1], old[3]
  local any = call('exists', key .. '-dependencies', 'ql:tracked', 'ql:failed-jobs-list') > 0
  local blockers = any and call('smembers', key .. '-dependencies')
  local blocked = blockers and #blockers or 0
  local tracked = any and call('zscore', 'ql:tracked', jid)
  local pending, history = o.pending, key .. '-history'
  if pending and pending[1] then
    call('llen', history)
    blocked = blocked + need('dependency/link')(jid, pending)
  end
  if old[8] then need('history/migrate')(jid, old[8]) end
  local quoted = encode(queue)
  local entry = '[' .. seconds .. ',"put",{"q":' .. quoted .. '}]'
  if o.history then
    call('del', history)
    if o.history[1] then need('value/in_chunks')('rpush', history, o.history, 1, #o.history) end
  end
  local length
  if o.note then
    length = call('rpush', history, entry, o.note)
  else
    length = call('rpush', history, entry)
  end
  if length > 1 then
    local limit = o.limit
    if limit == nil then limit = redis.pcall('hget', 'ql:config', 'max-job-history') end
    limit = tonumber(limit or 100) or 100
    if length > limit then need('history/trim')(history, length, limit) end
  end
  local given = o.depends
  if blockers and given and given[1] then
    local keep = {}
    for i = 1, #given do keep[given[i]] = true end
    if o.kept then keep[o.kept] = true end
    blocked = blocked - need('dependency/unlink')(jid, need('value/without')(blockers, keep))
  end
  if any then need('failure/forget_times')({jid}) end
  call('publish', 'ql:log', '{"jid":' .. encode(jid) .. ',"event":"put","queue":' .. quoted .. '}')
  local priority, retries = o.priority, o.retries
  local remaining = o.remaining or retries and need('value/whole_tries')(retries)
  local tags, leftover, stored = o.tags, false, '{}'
  if state or old[5] or worker then
    local from = old[2]
    if from then need('queue/remove_from_state_set')(jid, state, from) end
    if state == 'complete' then
      call('zrem', 'ql:completed', jid)
      if false then need('job/unlist_complete')(jid) end
    end
    if state == 'failed' then need('failure/leave')(jid, old[7], from or '') end
    if worker and worker ~= '' then
      call('zrem', 'ql:w:' .. worker .. ':jobs', jid)
      if worker ~= me then need('job/lock_lost')(jid, worker) end
    end
    priority = priority or need('value/number')(old[4])
    retries = retries or need('value/number')(old[6])
    remaining = remaining or retries and need('value/whole_tries')(retries)
    if old[5] and old[5] ~= '{}' then
      local before, keep = need('job/tags')(old[5]), {}
      tags = tags or before
      for i = 1, #tags do keep[tags[i]] = true end
      need('job/untag')(jid, need('value/without')(before, keep))
    end
  end
  if tags and tags[1] then
    for i = 1, #tags do
      if call('zadd', 'ql:t:' .. tags[i], t, jid) == 1 then call('zincrby', 'ql:tags', 1, tags[i]) end
    end
    stored = encode(tags)
  end
  local due = o.due or (delay > 0 and string.format('%.17g', now + delay))
  local placed
  if o.failed then
    placed = 'failed'
  elseif blocked > 0 then
    placed = 'depends'
  else
    placed = due and 'scheduled' or 'waiting'
  end
  local full = o.ids and placed == 'waiting' and o.gate.full(jid, o.ids)
  local stamp = string.format('%.20f', now)
  if o.fields then
    call('hmset', key, 'jid', jid, 'klass', klass, 'data', data, 'priority', priority or '0', 'tags', stored,
      'state', placed, 'worker', '', 'expires', o.failed and '' or '0', 'queue', queue, 'retries', retries or '5',
      'remaining', remaining or '5', 'time', stamp, unpack(o.fields))
  else
    call('hmset', key, 'jid', jid, 'klass', klass, 'data', data, 'priority', priority or '0', 'tags', stored,
      'state', placed, 'worker', '', 'expires', o.failed and '' or '0', 'queue', queue, 'retries', retries or '5',
      'remaining', remaining or '5', 'time', stamp)
  end
  local base = 'ql:q:' .. queue
  if full then
    need('throttle/hold')(seconds, jid, queue, full, string.format('%.17g', now / 10000000000 - (priority or 0)))
    placed, leftover = 'throttled', old[10]
  elseif placed == 'waiting' then
    call('zadd', base .. '-work', (priority or 0) - now / 10000000000, jid)
    leftover = old[10]
  elseif placed == 'scheduled' then
    call('zadd', base .. '-scheduled', due, jid)
    leftover = old[10]
  elseif placed == 'depends' then
    call('zadd', base .. '-depends', t, jid)
    if due then
      call('hset', key, 'scheduled', due)
    else
      leftover = old[10]
    end
  else
    local failed = o.failed
    call('hset', key, 'failure', failed.text)
    need('stats/count')('ql:s:stats:' .. failed.when - failed.when % 86400 .. ':' .. queue, 'failed', 1)
    call('sadd', 'ql:failures', failed.group)
    call('lpush', 'ql:f:' .. failed.group, jid)
    local age = need('failure/age')(redis.pcall('hget', 'ql:config', 'jobs-failed-history'))
    if age then call('zadd', 'ql:failed-jobs-list', t, jid) end
    leftover = old[10]
  end
  if o.spawned_from_jid then call('hset', key, 'spawned_from_jid', o.spawned_from_jid) end
  if old[9] then call('hdel', key, 'grace') end
  if leftover then call('hdel', key, 'scheduled') end
  call('zadd', 'ql:queues', 'NX', t, queue)
  if tracked then call('publish', 'ql:put', jid) end
  return placed
end
elseif name == 'history/append' then
return function(jid, entry, limit)
  local call = redis.call
  local key = 'ql:j:' .. jid .. '-history'
  local length = call('rpush', key, entry)
  if length > 1 then
    limit = limit or tonumber(redis.pcall('hget', 'ql:config', 'max-job-history') or 100) or 100
    if length > limit then need('history/trim')(key, length, limit) end
  end
end
elseif name == 'history/trim' then
return function(key, length, limit)
  local call = redis.call
  limit = math.floor(limit)
  if limit <= 0 or length <= limit then return end
  if limit == 1 then
    call('ltrim', key, -1, -1)
    return
  end
  local first = call('lpop', key)
  call('ltrim', key, 1 - limit, -1)
  call('lpush', key, first)
end
elseif name == 'value/in_chunks' then
local size = 4000
return function(name, key, list, first, last)
  local sum = 0
  for from = first, last, size do
    sum = sum + redis.call(name, key, unpack(list, from, math.min(from + size - 1, last)))
  end
  return sum
end
elseif name == 'stats/add_values' then
local function slot(value)
  local u = math.floor(value)
  if u < 60 then
    return 's' .. u
  elseif u < 3600 then
    return 'm' .. math.floor(u / 60)
  elseif u < 86400 then
    return 'h' .. math.floor(u / 3600)
  end
  return 'd' .. math.floor(u / 86400)
end
local function add(key, values)
  local call = redis.call
  if not values[2] then
    local value, name = values[1], slot(values[1])
    local stored = redis.pcall('hmget', key, 'total', 'mean', 'vk', name)
    if stored.err then return end
    local total = tonumber(stored[1])
    if not total then
      call('hmset', key, 'total', '1', 'mean', value, 'vk', '0', name, '1')
    else
      local mean = tonumber(stored[2]) or 0
      local moved = mean + (value - mean) / (total + 1)
      local vk = (tonumber(stored[3]) or 0) + (value - moved) * (value - mean)
      call('hmset', key, 'total', total + 1, 'mean', moved, 'vk', vk, name, (tonumber(stored[3 + 1]) or 0) + 1)
    end
    return
  end
  local names, hits, fields = {}, {}, {'total', 'mean', 'vk'}
  for i = 1, #values do
    local name = slot(values[i])
    if not hits[name] then
      hits[name] = 0
      names[#names + 1] = name
      fields[#fields + 1] = name
    end
    hits[name] = hits[name] + 1
  end
  local stored = redis.pcall('hmget', key, unpack(fields))
  if stored.err then return end
  local total, mean = tonumber(stored[1]) or 0, tonumber(stored[2]) or 0
  local vk = tonumber(stored[3]) or 0
  for i = 1, #values do
    local value = values[i]
    total = total + 1
    if total == 1 then
      mean, vk = value, 0
    else
      local before = mean
      mean = before + (value - before) / total
      vk = vk + (value - mean) * (value - before)
    end
  end
  local write = {'total', total, 'mean', mean, 'vk', vk}
  for i = 1, #names do
    write[5 + 2 * i] = names[i]
    write[6 + 2 * i] = (tonumber(stored[3 + i]) or 0) + hits[names[i]]
  end
  call('hmset', key, unpack(write))
end
return function(key, values)
  local count = #values
  if count <= 1000 then return add(key, values) end
  for from = 1, count, 1000 do add(key, {unpack(values, from, math.min(from + 999, count))}) end
end
elseif name == 'job/render' then
local encode, events, event_of = cjson.encode, {}, nil
local klass, klass_json, queue, queue_json, state, state_json
local function number(text)
  if text == '0' then return text end
  local n, first = tonumber(text), string.byte(text)
  if not n or n - n ~= 0 then return '0' end
  return first > 48 and first < 58 and #text < 15 and text or '' .. n
end
return function(jid, job, tracked, related, before, worker, ends)
  local key = 'ql:j:' .. jid
  if job[12] then need('history/migrate')(jid, job[12]) end
  local list, count = redis.pcall('lrange', key .. '-history', '0', '-1'), 0
  for i = 1, #list do
    local entry = list[i]
    local json = events[entry]
    if not json then
      event_of = event_of or need('history/entry_json')
      json = event_of(entry)
      events[entry] = json
    end
    if json ~= '' then
      count = count + 1
      list[count] = json
    end
  end
  local history
  if count == 0 then
    history = '{}'
  elseif count == 1 then
    history = '[' .. list[1] .. ']'
  elseif count == 2 then
    history = '[' .. list[1] .. ',' .. list[2] .. ']'
  else
    history = '[' .. table.concat(list, ',', 1, count) .. ']'
  end
  local dependents, dependencies = '{}', '{}'
  if related then
    local members = need('value/set_json')
    dependents, dependencies = members(key .. '-dependents'), members(key .. '-dependencies')
  end
  local remaining, tags, failure = '' .. (job[7] or 0), job[9], job[10]
  if #remaining ~= 1 or string.byte(remaining) < 48 or string.byte(remaining) > 57 then
    local n = tonumber(remaining)
    remaining = n and n - n == 0 and '' .. math.floor(n) or '0'
  end
  if tags ~= '{}' then tags = need('value/document')(tags) end
  if failure ~= '{}' then failure = failure and need('value/document')(failure) or '{}' end
  if job[2] ~= klass or not klass then klass, klass_json = job[2], encode(job[2]) end
  if job[4] ~= queue or not queue then queue, queue_json = job[4], encode(job[4]) end
  if job[3] ~= state or not state then state, state_json = job[3], encode(job[3]) end
  return before .. '{"jid":' .. encode(jid) .. ',"klass":' .. klass_json .. ',"state":' ..
    state_json .. ',"queue":' .. queue_json .. ',"worker":' ..
    (worker or encode(job[14] or '')) .. ',"tracked":' .. (tracked and 'true' or 'false') ..
    (job[5] and ',"priority":' .. number(job[5]) or '') ..
    ',"expires":' .. (ends or number(job[15] or '')) ..
    (job[6] and ',"retries":' .. number(job[6]) or '') ..
    ',"remaining":' .. remaining .. ',"data":' .. encode(job[8]) ..
    ',"tags":' .. tags .. ',"history":' .. history .. ',"failure":' .. failure ..
    ',"spawned_from_jid":' .. (job[11] and encode(job[11]) or 'false') ..
    ',"dependents":' .. dependents .. ',"dependencies":' .. dependencies ..
    (job[13] and need('job/render_extended')(jid, job) or '}')
end
elseif name == 'job/render_all' then
local function join_some(list, from, count)
  if count <= 20 then
    for i = from + count, from + 19 do list[i] = '' end
    return list[from] .. list[from + 1] .. list[from + 2] .. list[from + 3] .. list[from + 4] .. list[from + 5] ..
      list[from + 6] .. list[from + 7] .. list[from + 8] .. list[from + 9] .. list[from + 10] .. list[from + 11] ..
      list[from + 12] .. list[from + 13] .. list[from + 14] .. list[from + 15] .. list[from + 16] ..
      list[from + 17] .. list[from + 18] .. list[from + 19]
  end
  for i = from + count, from + 99 do list[i] = '' end
  return list[from] .. list[from + 1] .. list[from + 2] .. list[from + 3] .. list[from + 4] .. list[from + 5] ..
    list[from + 6] .. list[from + 7] .. list[from + 8] .. list[from + 9] .. list[from + 10] .. list[from + 11] ..
    list[from + 12] .. list[from + 13] .. list[from + 14] .. list[from + 15] .. list[from + 16] ..
    list[from + 17] .. list[from + 18] .. list[from + 19] .. list[from + 20] .. list[from + 21] ..
    list[from + 22] .. list[from + 23] .. list[from + 24] .. list[from + 25] .. list[from + 26] ..
    list[from + 27] .. list[from + 28] .. list[from + 29] .. list[from + 30] .. list[from + 31] ..
    list[from + 32] .. list[from + 33] .. list[from + 34] .. list[from + 35] .. list[from + 36] ..
    list[from + 37] .. list[from + 38] .. list[from + 39] .. list[from + 40] .. list[from + 41] ..
    list[from + 42] .. list[from + 43] .. list[from + 44] .. list[from + 45] .. list[from + 46] ..
    list[from + 47] .. list[from + 48] .. list[from + 49] .. list[from + 50] .. list[from + 51] ..
    list[from + 52] .. list[from + 53] .. list[from + 54] .. list[from + 55] .. list[from + 56] ..
    list[from + 57] .. list[from + 58] .. list[from + 59] .. list[from + 60] .. list[from + 61] ..
    list[from + 62] .. list[from + 63] .. list[from + 64] .. list[from + 65] .. list[from + 66] ..
    list[from + 67] .. list[from + 68] .. list[from + 69] .. list[from + 70] .. list[from + 71] ..
    list[from + 72] .. list[from + 73] .. list[from + 74] .. list[from + 75] .. list[from + 76] ..
    list[from + 77] .. list[from + 78] .. list[from + 79] .. list[from + 80] .. list[from + 81] ..
    list[from + 82] .. list[from + 83] .. list[from + 84] .. list[from + 85] .. list[from + 86] ..
    list[from + 87] .. list[from + 88] .. list[from + 89] .. list[from + 90] .. list[from + 91] ..
    list[from + 92] .. list[from + 93] .. list[from + 94] .. list[from + 95] .. list[from + 96] ..
    list[from + 97] .. list[from + 98] .. list[from + 99]
end
local join
join = function(list, count)
  if count <= 100 then return join_some(list, 1, count) end
  local all = {}
  for from = 1, count, 100 do all[#all + 1] = join_some(list, from, math.min(100, count - from + 1)) end
  return join(all, #all)
end
return function(jids, jobs, count, tracked, related, worker, ends)
  if count == 0 then return '{}' end
  local render = need('job/render')
  if count == 1 then
    local jid = jids[1]
    if related == nil then related = need('dependency/any_related')(jids, 1, 1) end
    return render(jid, jobs[1], tracked and tracked[jid], related, '[', worker, ends) .. ']'
  end
  related = need('dependency/any_related')(jids, 1, count)
  local parts = {}
  for i = 1, count do
    local jid = jids[i]
    parts[i] = render(jid, jobs[i], tracked and tracked[jid], related, i == 1 and '[' or ',', worker, ends)
  end
  parts[count] = parts[count] .. ']'
  return join(parts, count)
end
elseif name == 'job/put_options' then
return function(argv, first)
  local o = {}
  if (#argv - first) % 2 == 0 then error('Odd number of additional args: ' .. tostring(o)) end
  local given, others = {}, #argv - first + 1
  for i = first, #argv, 2 do given[argv[i]] = argv[i + 1] end
  if given.retries then
    o.retries = need('value/number')(given.retries)
    others = others - 2
    if not o.retries then error('Put(): Arg "retries" not a number: ' .. given.retries) end
  end
  if given.tags then
    o.tags = need('value/names')(given.tags, 'objects', 1000)
    others = others - 2
    if o.tags == nil then error('Put(): Arg "tags" not JSON' .. given.tags) end
    if o.tags and o.tags[1001] then need('job/few_tags')('Put', #o.tags) end
  end
  if given.priority then
    o.priority = need('value/number')(given.priority)
    others = others - 2
    if not o.priority then error('Put(): Arg "priority" not a number' .. given.priority) end
  end
  if given.depends then
    o.depends = need('value/names')(given.depends, 'objects', 20000)
    others = others - 2
    if o.depends == nil then error('Put(): Arg "depends" not JSON: ' .. given.depends) end
    if o.depends and o.depends[20001] then error('Put(): Arg "depends" has more than 20000 jids') end
  end
  if given.backoff and need('option/empty_backoff')(given, o) then others = others - 2 end
  if false and o.tags then o.tags = need('value/without_blanks')(o.tags) end
  if others > 0 and need('option/given')(given) then o.x = need('option/read')(given, 'Put') end
  local not_a_list = o.depends == false and not string.find(given.depends, '^%s*%[')
  if o.tags == false and not not_a_list then error('Put(): Arg "tags" not JSON' .. given.tags) end
  if o.depends == false then error('Put(): Arg "depends" not JSON: ' .. given.depends) end
  return o, given
end
elseif name == 'value/number' then
return function(text)
  local n = tonumber(text)
  if n and n - n == 0 then return n end
end
elseif name == 'value/names' then
return function(json, loose, most)
  local list = cjson.decode(json)
  if list == false then return nil end
  if type(list) ~= 'table' then return loose == 'all' and {} end
  if not loose and string.byte(json) ~= 91 and next(list) ~= nil and not string.find(json, '^%s*%[') then
    return false
  end
  local names, seen, count = {}, {}, 0
  for i = 1, #list do
    local name = list[i]
    if type(name) == 'number' then name = tostring(name) end
    if type(name) ~= 'string' then
      if loose ~= 'all' then return false end
    elseif not seen[name] then
      if most and count > most then break end
      seen[name] = true
      count = count + 1
      names[count] = name
    end
  end
  return names
end
elseif name == 'value/whole_tries' then
return function(n)
  return math.floor(math.max(-9007199254740992, math.min(9007199254740992, n)))
end
elseif name == 'history/entry_json' then
return function(entry)
  local match = string.match
  local when, value = match(entry, '^%[([1-9]%d*),"put",{"q":("[^"\\%c]*")}%]$')
  if when then return '{"when":' .. when .. ',"what":"put","q":' .. value .. '}' end
  when, value = match(entry, '^%[([1-9]%d*),"popped",{"worker":("[^"\\%c]*")}%]$')
  if when then return '{"when":' .. when .. ',"what":"popped","worker":' .. value .. '}' end
  when, value = match(entry, '^%[([1-9]%d*),("[%w%-]+")%]$')
  if when then return '{"when":' .. when .. ',"what":' .. value .. '}' end
  local ok, list = pcall(cjson.decode, entry)
  if not ok or type(list) ~= 'table' or type(list[1]) ~= 'number' or type(list[2]) ~= 'string' then return '' end
  local item = list[3]
  if type(item) ~= 'table' then item = {} end
  item.when, item.what = list[1], list[2]
  local fine, json = pcall(cjson.encode, item)
  return fine and json or ''
end
elseif name == 'dependency/any_related' then
return function(jids, first, last)
  local keys, n = {}, 0
  for i = first, last do
    local key = 'ql:j:' .. jids[i]
    keys[n + 1], keys[n + 2] = key .. '-dependents', key .. '-dependencies'
    n = n + 2
    if n == 4000 or i == last then
      if redis.call('exists', unpack(keys, 1, n)) > 0 then return true end
      n = 0
    end
  end
  return false
end
elseif name == 'job/tracked' then
return function(jids, count)
  if redis.call('exists', 'ql:tracked') == 0 then return false end
  local set = {}
  for i = 1, count do
    if type(redis.pcall('zscore', 'ql:tracked', jids[i])) == 'string' then set[jids[i]] = true end
  end
  return set
end
elseif name == 'job/forget_complete' then
local most, most_tags = 1000, 20000
local function delete(jids)
  local call, tags_of, untag = redis.call, need('job/tags'), need('job/untag')
  local done, left = #jids, most_tags
  for i = 1, #jids do
    if left <= 0 then
      done = i - 1
      break
    end
    local jid = jids[i]
    local key = 'ql:j:' .. jid
    local job = call('hmget', key, 'state', 'tags')
    if not job[1] or job[1] == 'complete' then
      if job[2] and job[2] ~= '{}' then
        local tags = tags_of(job[2])
        untag(jid, tags)
        left = left - #tags
      end
      call('del', key, key .. '-history', key .. '-dependencies', key .. '-dependents')
    end
  end
  need('value/in_chunks')('zrem', 'ql:completed', jids, 1, done)
  return done
end
return function(now, age, count)
  local call = redis.call
  age, count = tonumber(age), tonumber(count)
  if not age or age - age ~= 0 then age = 604800 end
  if not count or count - count ~= 0 then count = 50000 end
  local old = call('zrangebyscore', 'ql:completed', '0', now - age, 'LIMIT', '0', most)
  local gone = old[1] and delete(old) or 0
  count = math.floor(count)
  local excess = count < 0 and -count or call('zcard', 'ql:completed') - count
  if excess <= 0 or #old >= most or gone < #old then return gone end
  return gone + delete(call('zrange', 'ql:completed', 0, math.min(excess, most - #old) - 1))
end
elseif name == 'ending/end_jobs' then
return function(now, t, seconds, worker, argv, first, limit, age, most)
  if not argv[first] then return {} end
  local call, count = redis.pcall, #argv
  if count == first + 4 and argv[first] == '4' and argv[first + 3] == 'complete'
    and type(call('zcard', 'ql:w:' .. worker .. ':jobs')) == 'number'
    and type(call('zcard', 'ql:q:' .. argv[first + 2] .. '-locks')) == 'number'
    and type(call('zcard', 'ql:completed')) == 'number' then
    local complete = need('complete', true)
    local words = {'complete', t, argv[first + 1], worker, argv[first + 2], argv[count]}
    local ok, state = pcall(complete, words, now, t, seconds, {limit, age, most})
    if ok then return {{'done', state}} end
  end
  local positions = need('ending/positions')(argv, first)
  count = #positions
  local b = need('ending/batch')(now, t, seconds, worker, limit, age, most)
  local related, ways, rows = {'ql:tracked'}, {}, {}
  for i = 1, count do related[i + 1] = 'ql:j:' .. argv[positions[i] + 1] .. '-dependents' end
  b.any = redis.call('exists', unpack(related)) > 0
  local i = 0
  local function end_rest()
    while i < count do
      i = i + 1
      local at = positions[i]
      local name = argv[at + 3]
      local way = ways[name]
      if not way then
        if name == 'complete' then
          way = need('ending/complete')
        elseif name == 'retry' then
          way = need('ending/retry')
        else
          way = need('ending/fail')
        end
        way = way(b, argv)
        ways[name] = way
      end
      rows[i] = way(argv[at + 1], argv[at + 2], at + 4, at + argv[at])
    end
  end
  repeat
    local ok, why = pcall(end_rest)
    if not ok then
      if not b.wrote then error(why, 0) end
      rows[i] = b.invalid(why)
    end
  until ok
  b.flush()
  return rows
end
elseif name == 'ending/positions' then
return function(argv, at)
  local positions, count = {}, 0
  while argv[at] do
    local words = tonumber(argv[at])
    if not words or words % 1 ~= 0 or words < 3 or at + words > #argv then
      error('Guard(): wrong number of words: ' .. argv[at])
    end
    local way = argv[at + 3]
    if way ~= 'complete' and way ~= 'retry' and way ~= 'fail' then
      error('Guard(): a job ends by complete, retry or fail: ' .. way)
    end
    count = count + 1
    if count > 500 then error('Guard(): more than 500 jobs') end
    positions[count] = at
    at = at + words + 1
  end
  return positions
end
elseif name == 'ending/batch' then
local call = redis.call
return function(now, t, seconds, worker, limit, age, most)
  local b = {
    now = now, t = t, seconds = seconds, worker = worker,
    limit = tonumber(limit or 100) or 100, jobs_history = age, jobs_history_count = most,
    stamp = string.format('%.20f', now),
    held = {}, completed = {}, groups = {}, failed = {},
    any = false,
  }
  local day, queues, names = now - now % 86400 .. ':', {}, {}
  b.fault = need('value/key_fault')(b)
  function b.queue(name)
    local queue = queues[name]
    if not queue then
      queue = {base = 'ql:q:' .. name, json = cjson.encode(name), locks = {}, work = {}, scheduled = {}, values = {},
        failed = 0}
      queue.bad = b.fault('zset', queue.base .. '-locks', 'zset', 'ql:w:' .. worker .. ':jobs')
      queues[name], names[#names + 1] = queue, name
    end
    return queue
  end
  local failed_age, failed_fault
  function b.failed_age()
    if failed_age == nil then
      local setting = redis.pcall('hget', 'ql:config', 'jobs-failed-history')
      failed_age, failed_fault = need('failure/age')(setting)
      failed_age = failed_age or false
    end
    return failed_age, failed_fault
  end
  function b.invalid(text)
    return {'invalid', need('value/error_text')(text)}
  end
  function b.refuse(jid)
    b.forget()
    local job = call('hmget', 'ql:j:' .. jid, 'state', 'worker')
    if not job[1] and not job[2] then return {'gone'} end
    return {'not_holder', job[1] or '', job[2] or ''}
  end
  function b.forget()
    local list = b.completed
    if not list[1] then return end
    b.completed = {}
    need('value/in_chunks')('zadd', 'ql:completed', list, 1, #list)
    local forget = need('job/forget_complete')
    for _ = 2, math.min(#list, 4), 2 do
      local ok, gone = pcall(forget, now, age, most)
      if not ok or gone == 0 then break end
    end
  end
  function b.single(name, argv, jid, queue, first, last)
    b.flush()
    local words = {name, t, jid, name == 'retry' and queue or worker}
    if name == 'retry' then words[5] = worker end
    if name == 'complete' then words[5] = queue end
    for i = first, last do words[#words + 1] = argv[i] end
    if name == 'fail' and words[7] == '' then words[7] = nil end
    local ok, reply = pcall(need(name, true), words, now, t, seconds, name == 'complete' and {limit, age, most} or nil)
    if not ok then return b.invalid(reply) end
    b.wrote = true
    if name == 'fail' then return {'done', 'failed'} end
    return {'done', name == 'complete' and reply or string.format('%.14g', reply)}
  end
  function b.flush()
    if not b.wrote then return end
    local in_chunks = need('value/in_chunks')
    b.forget()
    for i = 1, #names do
      local name = names[i]
      local queue = queues[name]
      local locks = queue.locks
      table.sort(locks)
      if locks[1] and in_chunks('zrem', queue.base .. '-locks', locks, 1, #locks) < #locks then
        local remove = need('queue/remove_from_state_set')
        for k = 1, #locks do pcall(remove, locks[k], 'running', name) end
      end
    end
    for i = 1, #names do
      local name = names[i]
      local queue = queues[name]
      if queue.values[1] then need('stats/add_values')('ql:s:run:' .. day .. name, queue.values) end
      if queue.work[1] then in_chunks('zadd', queue.base .. '-work', queue.work, 1, #queue.work) end
      if queue.scheduled[1] then
        in_chunks('zadd', queue.base .. '-scheduled', queue.scheduled, 1, #queue.scheduled)
      end
      if queue.listed then call('zadd', 'ql:queues', 'NX', t, name) end
      if queue.failed > 0 then
        local count = need('stats/count')
        count('ql:s:stats:' .. day .. name, 'failures', queue.failed)
        count('ql:s:stats:' .. day .. name, 'failed', queue.failed)
      end
    end
    table.sort(b.held)
    if b.held[1] then in_chunks('zrem', 'ql:w:' .. worker .. ':jobs', b.held, 1, #b.held) end
    for group, jids in pairs(b.groups) do
      call('sadd', 'ql:failures', group)
      in_chunks('lpush', 'ql:f:' .. group, jids, 1, #jids)
    end
    local age = b.failed[1] and b.failed_age()
    if age then need('failure/forget_old')(now, t, b.failed, age) end
    queues, names, b.held, b.groups, b.failed = {}, {}, {}, {}, {}
  end
  return b
end
elseif name == 'ending/complete' then
return function(b, argv)
  local call, encode, decode = redis.call, cjson.encode, cjson.decode
  local now, t, worker, stamp = b.now, b.t, b.worker, b.stamp
  local done = '[' .. b.seconds .. ',"done"]'
  local sound = false
  local function link(jid, key, pending)
    local bad = b.fault('list', key .. '-history', 'set', key .. '-dependencies')
    for i = 1, #pending do bad = bad or b.fault('set', 'ql:j:' .. pending[i] .. '-dependents') end
    if bad then return bad end
    need('dependency/link')(jid, pending)
    b.any = true
  end
  return function(jid, queue, first, last)
    local data = argv[first]
    if first > last then data = nil end
    if data ~= '' then
      local ok, value = true, false
      if data then ok, value = pcall(decode, data) end
      if not ok then return b.invalid(value) end
      if value == false then
        return b.invalid('Complete(): Arg "data" missing or not JSON: ' .. tostring(data))
      end
    end
    local following, delay, names, given, x
    if last > first then
      local ok
      ok, following, delay, names, given, x = pcall(need('ending/complete_options'), argv, first + 1, last)
      if not ok then return b.invalid(following) end
    end
    local key = 'ql:j:' .. jid
    local job = redis.pcall('hmget', key, 'worker', 'state', 'queue', 'priority', 'retries', 'time', 'history', 'grace', 'scheduled', 'throttles')
    if job.err then return b.invalid(need('value/wrong_type')(job, b.wrote, 'hash', key, 'hget', key, 'jid')) end
    if job[2] ~= 'running' or job[1] ~= worker or job[3] ~= queue then return b.refuse(jid) end
    if x or job[10] then return b.single('complete', argv, jid, queue, first, last) end
    if names == false then return b.invalid('Complete(): Arg "depends" not JSON: ' .. given.depends) end
    local home, target = b.queue(queue), following and b.queue(following)
    local bad = home.bad or not sound and b.fault('zset', 'ql:completed', 'zset', 'ql:tracked')
    sound = not bad
    if target then
      bad = bad or b.fault('zset', 'ql:queues', 'zset', target.base .. '-work',
        'zset', target.base .. '-scheduled', 'zset', target.base .. '-depends')
    end
    local history = key .. '-history'
    if job[7] then bad = bad or b.fault('list', history) end
    if bad then return b.invalid(bad) end
    local pending = names and names[1] and need('dependency/pending_dependencies')(jid, names)
    pending = pending and pending[1] and pending
    if pending then
      bad = link(jid, key, pending)
      if bad then return b.invalid(bad) end
    end
    if job[7] then need('history/migrate')(jid, job[7]) end
    local length
    if following then
      length = redis.pcall('rpush', history, done, '[' .. b.seconds .. ',"put",{"q":' .. target.json .. '}]')
    else
      length = redis.pcall('rpush', history, done)
    end
    if type(length) == 'table' then
      return b.invalid(need('value/wrong_type')(length, b.wrote, 'list', history, 'rpush', history, done))
    end
    b.wrote = true
    if length > b.limit then need('history/trim')(history, length, b.limit) end
    local tracked, dependents = false, nil
    if b.any then
      tracked = call('zscore', 'ql:tracked', jid)
      dependents = redis.pcall('smembers', key .. '-dependents')
    end
    if pending then
      if call('zrem', home.base .. '-locks', jid) == 0 then
        need('queue/remove_from_state_set')(jid, 'running', queue)
      end
    else
      home.locks[#home.locks + 1] = jid
    end
    b.held[#b.held + 1] = jid
    local started = tonumber(job[6])
    if not started or started - started ~= 0 then started = now end
    home.values[#home.values + 1] = now - started
    local retries = job[5] or '0'
    if not string.find(retries, '^%d+$') then
      retries = tonumber(retries) or 0
      retries = retries - retries == 0 and need('value/whole_tries')(retries) or 0
    end
    if job[8] then call('hdel', key, 'grace') end
    if tracked then call('publish', 'ql:completed', jid) end
    local state, due, quoted = 'complete', nil, encode(jid)
    if following then
      due = delay > 0 and string.format('%.17g', now + delay)
      state = pending and 'depends' or due and 'scheduled' or 'waiting'
      call('publish', 'ql:log', '{"jid":' .. quoted .. ',"to":' .. target.json ..
        ',"event":"advanced","queue":' .. home.json .. '}')
    else
      call('publish', 'ql:log', '{"jid":' .. quoted .. ',"event":"completed","queue":' .. home.json .. '}')
    end
    if data == '' then
      call('hmset', key, 'time', stamp, 'state', state, 'worker', '', 'failure', '{}', 'queue', following or '',
        'expires', '0', 'remaining', retries)
    else
      call('hmset', key, 'data', data, 'time', stamp, 'state', state, 'worker', '', 'failure', '{}',
        'queue', following or '', 'expires', '0', 'remaining', retries)
    end
    if not following then
      b.completed[#b.completed + 1], b.completed[#b.completed + 2] = t, jid
      if false then need('job/list_complete')(now, t, jid, queue, b.jobs_history, b.jobs_history_count) end
    else
      target.listed = true
      if pending then
        call('zadd', target.base .. '-depends', t, jid)
        if due then call('hset', key, 'scheduled', due) end
      else
        need('ending/place')(target, jid, due, job[4], now)
      end
    end
    if job[9] and not (pending and due) then call('hdel', key, 'scheduled') end
    if dependents and dependents[1] and not following then
      pcall(need('dependency/release_dependents'), now, jid, dependents)
    end
    return {'done', state}
  end
end
elseif name == 'ending/place' then
return function(queue, jid, due, priority, now)
  local list, score = queue.scheduled, due
  if not due then
    local p = tonumber(priority) or 0
    if p - p ~= 0 then p = 0 end
    list, score = queue.work, p - now / 10000000000
  end
  list[#list + 1] = score
  list[#list + 1] = jid
end
elseif name == 'value/key_fault' then
return function(progress)
  local pcall, known = redis.pcall, {}
  local function test(kind, key)
    if known[key] then return end
    local reply
    if kind == 'hash' then
      reply = pcall('hget', key, 'jid')
    elseif kind == 'list' then
      reply = pcall('llen', key)
    elseif kind == 'set' then
      reply = pcall('scard', key)
    else
      reply = pcall('zcard', key)
    end
    if type(reply) == 'table' then
      local command = {kind == 'list' and 'llen' or kind == 'set' and 'scard' or 'zcard', key}
      if kind == 'hash' then command = {'hget', key, 'jid'} end
      return need('value/wrong_type')(reply, progress and progress.wrote, kind, key, unpack(command))
    end
    known[key] = true
  end
  return function(...)
    local args = {...}
    local list = type(args[2]) == 'table' and args[2]
    for i = 1, list and #list or #args / 2 do
      local fault = test(list and args[1] or args[2 * i - 1], list and list[i] or args[2 * i])
      if fault then return fault end
    end
  end
end
elseif name == 'queue/remove_from_state_set' then
return function(jid, state, queue)
  local call, base, home = redis.call, 'ql:q:' .. queue, nil
  if state == 'waiting' or state == 'stalled' then
    home = '-work'
  elseif state == 'running' then
    home = '-locks'
    call('zrem', base .. '-work', jid)
  elseif state == 'scheduled' then
    home = '-scheduled'
  elseif state == 'depends' then
    home = '-depends'
  elseif state == 'throttled' then
    home = '-throttled'
  elseif state == 'failed' or state == 'complete' then
    return
  end
  if home and call('zrem', base .. home, jid) == 1 then return end
  local gone = call('zrem', base .. '-work', jid) + call('zrem', base .. '-locks', jid) +
    call('zrem', base .. '-depends', jid) + call('zrem', base .. '-scheduled', jid)
  if gone > 0 then return end
  local queues = redis.pcall('zrange', 'ql:queues', 0, -1)
  for i = 1, #queues do
    local other = 'ql:q:' .. queues[i]
    redis.pcall('zrem', other .. '-work', jid)
    redis.pcall('zrem', other .. '-locks', jid)
    redis.pcall('zrem', other .. '-scheduled', jid)
  end
end
elseif name == 'queue/grant' then
local function number(text)
  local n = text and tonumber(text)
  if n and n - n == 0 then return n end
end
return function(now, seconds, queue, worker, ends, limit, jids, jobs, count, taken, remove)
  local call, base, expires = redis.call, 'ql:q:' .. queue, string.format('%.17g', ends)
  local stamp = string.format('%.20f', now)
  local quoted = cjson.encode(worker)
  local entry = '[' .. seconds .. ',"popped",{"worker":' .. quoted .. '}]'
  local waited, held = {}, {}
  local related
  local key = 'ql:j:' .. jids[1]
  if count == 1 then related = call('exists', key .. '-dependents', key .. '-dependencies', 'ql:tracked') > 0 end
  local tracked = (count == 1 and related or count > 1) and need('job/tracked')(jids, count)
  local given = 0
  for i = 1, count do
    local jid, job = jids[i], jobs[i]
    key = 'ql:j:' .. jid
    if job[12] then
      need('history/migrate')(jid, job[12])
      job[12] = false
    end
    local length = redis.pcall('rpush', key .. '-history', entry)
    if type(length) == 'number' then
      if length > limit then need('history/trim')(key .. '-history', length, limit) end
      if job.fenced then
        need('queue/fence')(key, job, stamp, worker, expires)
        if i > taken then remove[#remove + 1] = jid end
      elseif i <= taken then
        call('hmset', key, 'time', stamp, 'worker', worker, 'expires', expires, 'state', 'running',
          'remaining', job[7])
      else
        call('hmset', key, 'time', stamp, 'worker', worker, 'expires', expires, 'state', 'running')
        remove[#remove + 1] = jid
      end
      if job[4] ~= queue then call('hset', key, 'queue', queue) end
      if job[15] then call('hdel', key, 'grace') end
      if tracked and tracked[jid] then call('publish', 'ql:popped', jid) end
      job[3], job[4] = 'running', queue
      given = given + 1
      waited[given] = now - (number(job[14]) or now)
      held[given], jids[given], jobs[given] = jid, jid, job
    elseif job[13] then
      need('throttle/leave')(jid, 'running', queue, job[13])
    end
  end
  count = given
  if count > 0 then need('stats/add_values')('ql:s:wait:' .. now - now % 86400 .. ':' .. queue, waited) end
  if count == 1 then
    call('zadd', 'ql:w:' .. worker .. ':jobs', expires, jids[1])
    call('zadd', base .. '-locks', expires, jids[1])
    if remove[2] then
      need('value/in_chunks')('zrem', base .. '-work', remove, 1, #remove)
    elseif remove[1] then
      call('zrem', base .. '-work', remove[1])
    end
  else
    local in_chunks, locks = need('value/in_chunks'), {}
    table.sort(held)
    for i = 1, count do
      local jid = held[count + 1 - i]
      locks[2 * i - 1], locks[2 * i] = expires, jid
    end
    in_chunks('zadd', 'ql:w:' .. worker .. ':jobs', locks, 1, 2 * count)
    in_chunks('zadd', base .. '-locks', locks, 1, 2 * count)
    in_chunks('zrem', base .. '-work', remove, 1, #remove)
  end
  return need('job/render_all')(jids, jobs, count, tracked, related, quoted, '' .. ends), count
end
elseif name == 'queue/pop_decision' then
return function(queue, t, jid, job)
  local call = redis.call
  local state, home = job[3], job[4]
  if not job[1] then return (job[2] or job[8] or job.err) and 'leave' or 'drop' end
  if state == 'waiting' or state == 'stalled' or state == 'scheduled' then
    local base = 'ql:q:' .. (home or queue)
    if home and home ~= queue and call('zscore', base .. '-work', jid) then return 'drop' end
    if (state == 'scheduled' or home ~= queue) and call('zscore', base .. '-scheduled', jid) then return 'drop' end
    return 'take'
  elseif state == 'running' then
    local expires = need('value/number')(redis.pcall('hget', 'ql:j:' .. jid, 'expires'))
    expires = expires and string.format('%.17g', expires) or t
    call('zadd', 'ql:q:' .. (home or queue) .. '-locks', 'NX', expires, jid)
    return 'drop'
  elseif state == 'failed' or state == 'complete' or state == 'depends' then
    return 'drop'
  end
  return 'leave'
end
elseif name == 'dependency/pending_dependencies' then
return function(jid, names)
  local pending = {}
  for i = 1, #names do
    local name = names[i]
    if name ~= jid then
      local state = redis.call('hget', 'ql:j:' .. name, 'state')
      if state and state ~= 'complete' then pending[#pending + 1] = name end
    end
  end
  return pending
end
elseif name == 'dependency/link' then
return function(jid, names)
  local call, own = redis.call, 'ql:j:' .. jid .. '-dependencies'
  local done = {}
  for i = 1, #names do
    local key = 'ql:j:' .. names[i] .. '-dependents'
    local added = redis.pcall('sadd', key, jid)
    if type(added) ~= 'number' then
      for n = 1, i - 1 do
        if done[n] == 1 then call('srem', 'ql:j:' .. names[n] .. '-dependents', jid) end
      end
      call('sadd', key, jid)
    end
    done[i] = added
  end
  if #names > 4000 then return need('value/in_chunks')('sadd', own, names, 1, #names) end
  return names[1] and call('sadd', own, unpack(names)) or 0
end
elseif name == 'dependency/release_dependents' then
return function(now, jid, dependents)
  local release = need('dependency/release_dependent')
  for i = 1, math.min(#dependents, 10000) do release(now, jid, dependents[i]) end
  if dependents[10001] then
    local rest = {}
    for i = 10001, #dependents do rest[#rest + 1], rest[#rest + 2] = jid, dependents[i] end
    need('value/in_chunks')('rpush', 'ql:releasing', rest, 1, #rest)
  end
  redis.call('del', 'ql:j:' .. jid .. '-dependents')
end
elseif name == 'dependency/release_job' then
return function(now, jid, queue, priority, due, past)
  local call = redis.call
  local key, base = 'ql:j:' .. jid, 'ql:q:' .. queue
  call('zrem', base .. '-depends', jid)
  local at = due and tonumber(due)
  if at and at - at == 0 and not (past and at <= now) then
    call('zadd', base .. '-scheduled', string.format('%.17g', at), jid)
    call('hset', key, 'state', 'scheduled')
  else
    local p = tonumber(priority)
    if not p or p - p ~= 0 then p = 0 end
    call('zadd', base .. '-work', p - now / 10000000000, jid)
    call('hset', key, 'state', 'waiting')
  end
  if due then call('hdel', key, 'scheduled') end
end
elseif name == 'dependency/unlink' then
return function(jid, names)
  local call, own = redis.call, 'ql:j:' .. jid .. '-dependencies'
  for i = 1, #names do call('srem', 'ql:j:' .. names[i] .. '-dependents', jid) end
  if #names > 4000 then return need('value/in_chunks')('srem', own, names, 1, #names) end
  return names[1] and call('srem', own, unpack(names)) or 0
end
elseif name == 'job/reserved' then
return function(jid)
  return string.find(jid, '%-history$') or string.find(jid, '%-dependencies$') or string.find(jid, '%-dependents$')
    or string.find(jid, '%-payloads$')
end
elseif name == 'job/lock_lost' then
return function(jid, worker)
  local message = '{"jid":' .. cjson.encode(jid) .. ',"event":"lock_lost","worker":' .. cjson.encode(worker) .. '}'
  redis.call('publish', 'ql:w:' .. worker, message)
  redis.call('publish', 'ql:log', message)
end
elseif name == 'job/tags' then
return function(text)
  local tags = {}
  if not text or text == '{}' then return tags end
  local ok, list = pcall(cjson.decode, text)
  if not ok or type(list) ~= 'table' then return tags end
  for i = 1, #list do
    local tag = list[i]
    if type(tag) == 'number' then tag = tostring(tag) end
    if type(tag) == 'string' then tags[#tags + 1] = tag end
  end
  return tags
end
elseif name == 'job/untag' then
return function(jid, tags)
  local call = redis.call
  for i = 1, #tags do
    local tag = tags[i]
    if call('zrem', 'ql:t:' .. tag, jid) == 1 then
      local left = call('zincrby', 'ql:tags', -1, tag)
      if left == '0' or string.byte(left) == 45 then call('zrem', 'ql:tags', tag) end
    end
  end
end
elseif name == 'job/render_existing' then
return function(jids)
  local read, found, jobs, count = need('job/read'), {}, {}, 0
  for i = 1, #jids do
    local job = read(jids[i], 'shown')
    if job[1] then
      count = count + 1
      found[count], jobs[count] = jids[i], job
    end
  end
  return need('job/render_all')(found, jobs, count, need('job/tracked')(found, count))
end
elseif name == 'queue/expire_locks' then
local call = redis.call
return function(now, t, seconds, queue, lost, grace, limit)
  local locks = 'ql:q:' .. queue .. '-locks'
  local jids, jobs = {}, {}
  local read, append = need('job/read'), need('history/append')
  local in_chunks, whole_tries = need('value/in_chunks'), need('value/whole_tries')
  local tracked = call('exists', 'ql:tracked') == 1
  local held, drop, renew, warned, failed = {}, {}, {}, 0, {}
  local back_off
  local extended = string.format('%.17g', now + grace)
  for i = 1, #lost do
    local jid = lost[i]
    local key, job = 'ql:j:' .. jid, read(jid, 'lost')
    local state, worker = job[3], job[16]
    if not job[1] and (job[2] or job[8] or job.err) then
      renew[#renew + 1], renew[#renew + 2] = string.format('%.17g', now + 60), jid
    elseif not job[1]
      or job[4] and job[4] ~= queue
      and call('zscore', 'ql:q:' .. job[4] .. '-locks', jid)
      or state == 'waiting' or state == 'scheduled' or state == 'depends' or state == 'stalled'
      or state == 'failed' or state == 'complete' then
      drop[#drop + 1] = jid
      if not job[1] then
        call('zrem', 'ql:q:' .. queue .. '-work', jid)
        call('zrem', 'ql:q:' .. queue .. '-scheduled', jid)
      end
    else
      local warn = job[15] ~= '1' or grace <= 0
      local follow = tracked and type(redis.pcall('zscore', 'ql:tracked', jid)) == 'string'
      if worker then
        local list = held[worker]
        if not list then
          list = {}
          held[worker] = list
        end
        list[#list + 1] = jid
      end
      if job[12] then
        need('history/migrate')(jid, job[12])
        job[12] = false
      end
      if warn then
        if follow then call('publish', 'ql:stalled', jid) end
        pcall(append, jid, '[' .. seconds .. ',"timed-out"]', limit)
        need('job/lock_lost')(jid, worker or '')
        warned = warned + 1
        if grace > 0 then
          call('hset', key, 'grace', '1')
          renew[#renew + 1], renew[#renew + 2] = extended, jid
        end
      end
      if not warn or grace <= 0 then
        local left = tonumber(job[7]) or tonumber(job[6]) or 0
        if left - left ~= 0 then left = 0 end
        left = whole_tries(left) - 1
        back_off = back_off or need('queue/back_off')(now, t, seconds, queue)
        if left >= 0 and back_off(jid, job, left) then
          drop[#drop + 1] = jid
        elseif left >= 0 then
          job[7] = left
          jids[#jids + 1], jobs[#jobs + 1] = jid, job
        else
          local group = 'failed-retries-' .. (job[4] or queue)
          local message = 'Job exhausted retries in queue "' .. queue .. '"'
          pcall(append, jid, '[' .. seconds .. ',"failed",{"group":' .. cjson.encode(group) .. '}]', limit)
          call('hmset', key, 'state', 'failed', 'worker', '', 'expires', '', 'remaining', left, 'failure',
            need('failure/encode')(group, message, seconds, ''))
          if job[15] then call('hdel', key, 'grace') end
          if job[13] then
            need('ending/extended')(now, t, seconds, jid, 'exhausted', job[4] or queue, job[13])
          end
          drop[#drop + 1] = jid
          call('sadd', 'ql:failures', group)
          call('lpush', 'ql:f:' .. group, jid)
          failed[#failed + 1] = jid
          if follow then call('publish', 'ql:failed', jid) end
          call('publish', 'ql:log', need('failure/event')(jid, group, message, worker or ''))
        end
      end
    end
  end
  for worker, list in pairs(held) do in_chunks('zrem', 'ql:w:' .. worker .. ':jobs', list, 1, #list) end
  if drop[1] then in_chunks('zrem', locks, drop, 1, #drop) end
  if renew[1] then in_chunks('zadd', locks, renew, 1, #renew) end
  if warned + #failed > 0 then
    local day = 'ql:s:stats:' .. now - now % 86400 .. ':' .. queue
    local count = need('stats/count')
    if warned > 0 then count(day, 'retries', warned) end
    if failed[1] then
      count(day, 'failures', #failed)
      count(day, 'failed', #failed)
      local age = need('failure/age')(redis.pcall('hget', 'ql:config', 'jobs-failed-history'))
      if age then need('failure/forget_old')(now, t, failed, age) end
    end
  end
  return jids, jobs
end
elseif name == 'queue/slice' then
return function() return {children = 1000, tags = 20000, due = 5000, lost = 5000} end
elseif name == 'queue/next_due' then
return function(now, queue, from)
  local call, base, due = redis.call, 'ql:q:' .. queue, nil
  local locks, scheduled, recur = base .. '-locks', base .. '-scheduled', base .. '-recur'
  local present = call('exists', locks, scheduled, scheduled, recur, recur, recur, recur, 'ql:pauses', 'ql:pauses',
    'ql:pauses', 'ql:pauses', 'ql:pauses', 'ql:pauses', 'ql:pauses', 'ql:pauses')
  if present == 0 then return nil end
  if call('sismember', 'ql:paused_queues', queue) == 1 then
    local paused, till = need('queue/paused')(now, queue, true)
    if paused then return till end
  end
  local function consider(key)
    local first = redis.pcall('zrangebyscore', key, from, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
    local at = first.err and 0 or tonumber(first[2])
    if at and (not due or at < due) then due = at end
  end
  if present % 2 >= 1 then consider(locks) end
  if present % 4 >= 2 then consider(scheduled) end
  if present % 8 >= 4 then consider(recur) end
  return due
end
elseif name == 'queue/due' then
return function(now, t, queue, most, slice, leave)
  local call, base = redis.call, 'ql:q:' .. queue
  local count, apart, more = 0, 0, false
  local children = math.min(most, slice.children)
  if children > 0 and not leave then
    local due = call('zrangebyscore', base .. '-recur', 0, t, 'WITHSCORES', 'LIMIT', 0, children)
    if due[1] then
      local moved, skipped = need('recurring/spawn')(now, t, queue, due, children, slice)
      slice.children = slice.children - moved - skipped
      count, apart = moved + skipped, moved + skipped
      more = #due == 2 * children or moved == children or slice.tags <= 0
    end
  end
  most = (most < 0 or most > slice.due) and slice.due or most
  local due = most > 0 and call('zrangebyscore', base .. '-scheduled', 0, t, 'LIMIT', 0, most) or {}
  if due[1] then
    slice.due = slice.due - #due
    apart = apart + #due - need('queue/promote')(now, queue, due)
    count, more = count + #due, more or #due == most
  end
  return more, count, apart
end
elseif name == 'queue/promote' then
return function(now, queue, due)
  local call, base = redis.call, 'ql:q:' .. queue
  local work, scores, age = {}, {}, now / 10000000000
  local defaults = redis.pcall('hget', 'ql:config', queue .. '-defaults')
  local by_due = type(defaults) == 'string' and (need('option/defaults')(defaults) or {}).due
  for i = 1, #due do
    local key = 'ql:j:' .. due[i]
    local job = call('hmget', key, 'state', 'priority', 'jid')
    local state = job[1]
    if job[3] and (state == 'scheduled' or state == 'waiting') then
      local score = scores[job[2]]
      if not score or by_due then
        local priority = tonumber(job[2]) or 0
        if priority - priority ~= 0 then priority = 0 end
        if by_due then age = call('zscore', base .. '-scheduled', due[i]) / 10000000000 end
        score = string.format('%.17g', priority - age)
        scores[job[2]] = score
      end
      work[#work + 1] = score
      work[#work + 1] = due[i]
      if state == 'scheduled' then call('hset', key, 'state', 'waiting') end
    end
  end
  local in_chunks = need('value/in_chunks')
  if work[1] then in_chunks('zadd', base .. '-work', work, 1, #work) end
  in_chunks('zrem', base .. '-scheduled', due, 1, #due)
  return #work / 2
end
elseif name == 'recurring/spawn' then
return function(now, t, queue, due, limit, slice)
  local call, floor = redis.call, math.floor
  local base = 'ql:q:' .. queue
  local whole_tries = need('value/whole_tries')
  local moved, skipped, work, next_runs, gone, tagged = 0, 0, {}, {}, {}, {}
  local defaults = redis.pcall('hget', 'ql:config', queue .. '-defaults')
  for n = 1, #due, 2 do
    if slice.tags <= 0 then break end
    local id = due[n]
    local key = 'ql:r:' .. id
    local r = call('hmget', key, 'jid', 'klass', 'data', 'priority', 'tags', 'retries', 'interval', 'backlog', 'count', 'opts')
    local interval = tonumber(r[7])
    if not (r[1] and r[2] and r[3] and interval and interval > 0) then
      gone[#gone + 1] = id
    else
      local at = floor(tonumber(due[n + 1]))
      local backlog, count = tonumber(r[8]) or 0, tonumber(r[9]) or 0
      local started, priority, tried = moved, tonumber(r[4]) or 0, 0
      if not (count >= 0 and count < 9e15) then count = 0 end
      if priority - priority ~= 0 then priority = 0 end
      local behind = (now - at) / interval
      if backlog > 0 and behind > backlog then at = at + math.ceil(behind - backlog) * interval end
      local stored = r[5]
      local tags = stored and stored ~= '{}' and need('job/tags')(stored) or {}
      if tags[1001] then
        slice.tags = slice.tags - math.floor(#tags / 10)
        tags = {unpack(tags, 1, 1000)}
        stored = cjson.encode(tags)
      end
      local function may_make() return at <= now and moved < limit and (slice.tags > 0 or moved + skipped == 0) end
      local extended = (defaults or r[10]) and need('recurring/put_child')(queue, id, r, tags)
      local ticks = 0
      while extended and may_make() and skipped < 1000 and ticks < 1000 do
        local number, made = extended(at, count + 1)
        if made then moved, count = moved + 1, number else skipped = skipped + 1 end
        at, ticks, slice.tags = at + interval, ticks + 1, slice.tags - #tags
      end
      if ticks > 0 then
        call('hset', key, 'count', count)
        next_runs[#next_runs + 1], next_runs[#next_runs + 2] = at, id
        started = moved
      end
      while not extended and may_make() do
        count = count + 1
        local jid = id .. '-' .. count
        while tried < 1000 and call('exists', 'ql:j:' .. jid) == 1 do
          count, tried = count + 1, tried + 1
          jid = id .. '-' .. count
        end
        if tried == 1000 then
          call('hset', key, 'count', count - 1)
          break
        end
        call('rpush', 'ql:j:' .. jid .. '-history',
          '[' .. floor(at) .. ',"put",{"q":' .. cjson.encode(queue) .. '}]')
        call('hmset', 'ql:j:' .. jid, 'jid', jid, 'klass', r[2], 'data', r[3],
          'priority', priority, 'tags', tags[1] and stored or '{}', 'state', 'waiting', 'worker', '',
          'expires', '0', 'queue', queue, 'retries', r[6] or '0',
          'remaining', whole_tries(tonumber(r[6]) or 0), 'time', string.format('%.20f', at),
          'spawned_from_jid', id)
        for i = 1, #tags do
          local list = tagged[tags[i]]
          if not list then
            list = {}
            tagged[tags[i]] = list
          end
          list[#list + 1] = t
          list[#list + 1] = jid
        end
        work[#work + 1] = priority - at / 10000000000
        work[#work + 1] = jid
        moved = moved + 1
        at, slice.tags = at + interval, slice.tags - #tags
      end
      if moved > started then
        if tried < 1000 then call('hset', key, 'count', count) end
        next_runs[#next_runs + 1] = at
        next_runs[#next_runs + 1] = id
      end
    end
  end
  local in_chunks = need('value/in_chunks')
  if gone[1] then in_chunks('zrem', base .. '-recur', gone, 1, #gone) end
  if next_runs[1] then in_chunks('zadd', base .. '-recur', next_runs, 1, #next_runs) end
  if work[1] then
    in_chunks('zadd', base .. '-work', work, 1, #work)
    for tag, list in pairs(tagged) do
      local added = in_chunks('zadd', 'ql:t:' .. tag, list, 1, #list)
      if added > 0 then call('zincrby', 'ql:tags', added, tag) end
    end
    call('zadd', 'ql:queues', 'NX', t, queue)
    if call('exists', 'ql:failed-jobs-list') == 1 then
      local jids = {}
      for i = 2, #work, 2 do jids[#jids + 1] = work[i] end
      need('failure/forget_times')(jids)
    end
  end
  return moved, skipped + #gone
end
elseif name == 'recurring/pause' then
return function(jid, since, about)
  local call, key = redis.call, 'ql:r:' .. jid
  local fields = call('hgetall', key)
  local set = 'ql:q:' .. (call('hget', key, 'queue') or '') .. '-recur'
  local document = {
    since = since,
    by = type(about.by) == 'string' and about.by or nil,
    reason = type(about.reason) == 'string' and about.reason or nil,
    next = call('zscore', set, jid) or nil,
    fields = fields,
  }
  call('hset', 'ql:paused_recurring', jid, cjson.encode(document))
  call('zrem', set, jid)
  call('del', key)
end
elseif name == 'recurring/paused' then
return function(jid)
  local text = redis.pcall('hget', 'ql:paused_recurring', jid)
  if type(text) == 'table' then
    local key = 'ql:paused_recurring'
    return nil, need('value/wrong_type')(text, false, 'hash', key, 'hget', key, jid)
  end
  if not text then return nil end
  local ok, document = pcall(cjson.decode, text)
  local fields = ok and type(document) == 'table' and document.fields
  local named = {}
  for i = 1, type(fields) == 'table' and #fields or 0, 2 do named[fields[i]] = fields[i + 1] end
  if not named.jid then return nil, 'its document in ' .. 'ql:paused_recurring' .. ' cannot be read' end
  document.named = named
  return document
end
elseif name == 'recurring/resume' then
return function(now, t, jid, document)
  local call, fields = redis.call, document.named
  call('hmset', 'ql:r:' .. jid, unpack(document.fields))
  local queue, next_run = fields.queue or '', document.next
  local first, since, interval = tonumber(next_run), tonumber(document.since), tonumber(fields.interval)
  if first and since and interval and interval > 0 then
    local function due(at) return at < first and 0 or math.floor((at - first) / interval) + 1 end
    local missed = due(now) - due(since)
    if missed > 0 then next_run = string.format('%.17g', first + missed * interval) end
  end
  if next_run then call('zadd', 'ql:q:' .. queue .. '-recur', next_run, jid) end
  call('zadd', 'ql:queues', 'NX', t, queue)
  call('hdel', 'ql:paused_recurring', jid)
  return next_run
end
elseif name == 'ending/complete_options' then
return function(argv, first, last)
  local given, others = {}, last - first + 1
  for i = first, last, 2 do given[argv[i]] = i < last and argv[i + 1] or nil end
  local delay, names = 0, nil
  if given.delay then
    delay = need('value/number')(given.delay)
    others = others - 2
    if not delay then error('assertion failed!') end
  end
  if given.depends then
    names = need('value/names')(given.depends, 'objects', 20000)
    others = others - 2
    if names == nil then error('Complete(): Arg "depends" not JSON: ' .. given.depends) end
    if names and names[20001] then error('Complete(): Arg "depends" has more than 20000 jids') end
  end
  if given.delay and not given.next then error('Complete(): "delay" cannot be used without a "next".') end
  if given.depends and not given.next then error('Complete(): "depends" cannot be used without a "next".') end
  local x
  if given.next then others = others - 2 end
  if others > 0 and need('option/given')(given) then
    local own = {
      throttles = given.throttles, lock = given.lock, key = given.key, hold = given.hold, backoff = given.backoff,
    }
    x = need('option/read')(own, 'Complete')
    if not given.next then
      for _, name in ipairs({'throttles', 'lock', 'key', 'hold', 'backoff'}) do
        if own[name] then error('Complete(): "' .. name .. '" cannot be used without a "next".') end
      end
    end
  end
  return given.next, delay, names, given, x
end
elseif name == 'queue/paused' then
return function(now, queue, look)
  local text = redis.call('hget', 'ql:pauses', queue)
  if not text then return true end
  local ok, pause = pcall(cjson.decode, text)
  local till = ok and type(pause) == 'table' and tonumber(pause['until'])
  if not till or till > now then return true, till or nil end
  if look then return false end
  redis.call('srem', 'ql:paused_queues', queue)
  redis.call('hdel', 'ql:pauses', queue)
  return false
end
elseif name == 'failure/enter' then
return function(now, jid, group, queue)
  local call = redis.call
  local day = 'ql:s:stats:' .. now - now % 86400 .. ':' .. queue
  local count = need('stats/count')
  count(day, 'failures', 1)
  count(day, 'failed', 1)
  call('sadd', 'ql:failures', group)
  call('lpush', 'ql:f:' .. group, jid)
end
elseif name == 'failure/encode' then
return function(group, message, when, worker)
  local encode = cjson.encode
  return '{"group":' .. encode(group) .. ',"message":' .. encode(message) .. ',"when":' .. when .. ',"worker":' ..
    encode(worker) .. '}'
end
elseif name == 'failure/event' then
return function(jid, group, message, worker)
  local encode = cjson.encode
  return '{"message":' .. encode(message) .. ',"jid":' .. encode(jid) .. ',"group":' .. encode(group) ..
    ',"event":"failed","worker":' .. encode(worker) .. '}'
end
elseif name == 'failure/decode' then
return function(text)
  if not text or text == '{}' then return {} end
  local ok, failure = pcall(cjson.decode, text)
  if ok and type(failure) == 'table' then return failure end
  return {}
end
elseif name == 'failure/leave' then
return function(jid, text, queue)
  local call = redis.call
  local failure = need('failure/decode')(text)
  if call('exists', 'ql:failed-jobs-list') == 1 then need('failure/forget_times')({jid}) end
  local group = failure.group
  local list = type(group) == 'string' and 'ql:f:' .. group
  local length = list and call('llen', list) or 0
  local gone = length > 0 and call('lrem', list, length > 1000 and 1 or 0, jid) or 0
  if gone > 0 then
    if gone == length then call('srem', 'ql:failures', group) end
  else
    local groups = call('smembers', 'ql:failures')
    for i = 1, #groups do
      if call('lrem', 'ql:f:' .. groups[i], 0, jid) > 0 and call('exists', 'ql:f:' .. groups[i]) == 0 then
        call('srem', 'ql:failures', groups[i])
      end
    end
  end
  need('failure/uncount')(failure.when, queue, 1)
end
elseif name == 'failure/leave_many' then
local call = redis.call
local function close(group)
  if call('exists', 'ql:f:' .. group) == 0 then call('srem', 'ql:failures', group) end
end
local function sweep(group, wanted, count)
  local list = 'ql:f:' .. group
  local length = call('llen', list)
  local others, passed = {}, 0
  local depth = count < 100 and 10 * count or length
  while count > 0 and passed < length and passed < depth do
    local first = math.max(0, length - passed - 1000)
    local page = call('lrange', list, first, length - passed - 1)
    for i = #page, 1, -1 do
      local found = wanted[page[i]]
      if found == nil then
        others[#others + 1] = page[i]
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
  for i = #others, 1, -1 do back[#back + 1] = others[i] end
  need('value/in_chunks')('rpush', list, back, 1, #back)
  if count > 0 and passed < length then
    for jid, missing in pairs(wanted) do
      if missing and call('lrem', list, 1, jid) > 0 then wanted[jid] = false end
    end
  end
  close(group)
end
return function(jobs)
  local groups, days, unnamed, jids = {}, {}, {}, {}
  for i = 1, #jobs do jids[i] = jobs[i][1] end
  if call('exists', 'ql:failed-jobs-list') == 1 then need('failure/forget_times')(jids) end
  local read = need('failure/decode')
  for i = 1, #jobs do
    local jid, failure, queue = jobs[i][1], read(jobs[i][2]), jobs[i][3]
    local group = failure.group
    if type(group) == 'string' then
      local wanted = groups[group]
      if not wanted then
        wanted = {count = 0, jids = {}}
        groups[group] = wanted
      end
      if wanted.jids[jid] == nil then
        wanted.count = wanted.count + 1
        wanted.jids[jid] = true
      end
    else
      unnamed[#unnamed + 1] = jid
    end
    local when = tonumber(failure.when)
    if when and when - when == 0 then
      local id = when - when % 86400 .. ':' .. queue
      local day = days[id]
      if not day then
        day = {when, queue, 0}
        days[id] = day
      end
      day[3] = day[3] + 1
    end
  end
  for group, wanted in pairs(groups) do
    if wanted.count < 10 then
      local list = 'ql:f:' .. group
      local length = call('llen', list)
      local left = length
      for jid in pairs(wanted.jids) do
        local gone = call('lrem', list, length > 1000 and -1 or 0, jid)
        if gone == 0 then unnamed[#unnamed + 1] = jid end
        left = left - gone
      end
      if left == 0 then call('srem', 'ql:failures', group) end
    else
      sweep(group, wanted.jids, wanted.count)
      for jid, missing in pairs(wanted.jids) do
        if missing then unnamed[#unnamed + 1] = jid end
      end
    end
  end
  if unnamed[1] then
    local names = call('smembers', 'ql:failures')
    for i = 1, #names do
      local wanted = {}
      for k = 1, #unnamed do wanted[unnamed[k]] = true end
      sweep(names[i], wanted, #unnamed)
    end
  end
  for _, day in pairs(days) do need('failure/uncount')(day[1], day[2], day[3]) end
end
elseif name == 'failure/uncount' then
return function(when, queue, n)
  when = tonumber(when)
  if not when or when - when ~= 0 then return end
  local day = 'ql:s:stats:' .. when - when % 86400 .. ':' .. queue
  local left = redis.pcall('hincrby', day, 'failed', -n)
  if type(left) ~= 'number' or left < 0 then redis.pcall('hset', day, 'failed', 0) end
end
elseif name == 'failure/forget_times' then
return function(jids)
  pcall(need('value/in_chunks'), 'zrem', 'ql:failed-jobs-list', jids, 1, #jids)
end
elseif name == 'failure/age' then
return function(setting)
  local age = need('value/number')(setting)
  if not age or age < 0 then age = false and need('value/defaults')()['jobs-failed-history'] or nil end
  local held = age and redis.pcall('zcard', 'ql:failed-jobs-list')
  if type(held) == 'table' then
    return nil, need('value/wrong_type')(held, false, 'zset', 'ql:failed-jobs-list', 'zcard', 'ql:failed-jobs-list')
  end
  return age
end
elseif name == 'failure/forget_old' then
local call, pcall_redis = redis.call, redis.pcall
local most_read, most_deleted = 200, 100
local most_kept = 10
local most_dependents = 20
local function has_dependents(jid)
  local key = 'ql:j:' .. jid .. '-dependents'
  local count = pcall_redis('scard', key)
  if count == 0 then return false end
  if type(count) ~= 'number' or count > most_dependents then return true end
  local names = call('smembers', key)
  for i = 1, #names do
    local other = 'ql:j:' .. names[i]
    local edge = call('exists', other) == 1 and pcall_redis('sismember', other .. '-dependencies', jid)
    if edge == 1 then return true end
  end
  return false
end
local function is_sound(key_fault, jid, job)
  local fault = need('job/key_fault')(key_fault, jid, job[1], job[3], job[4], job[5],
    job[2])
  return not fault and not need('dependency/key_fault')(key_fault, jid)
end
return function(now, t, jids, age)
  local in_chunks, times, entries = need('value/in_chunks'), 'ql:failed-jobs-list', {}
  for i = 1, #jids do entries[2 * i - 1], entries[2 * i] = t, jids[i] end
  in_chunks('zadd', times, entries, 1, #entries)
  local last = now - age
  local page = call('zrangebyscore', times, '-inf', string.format('%.17g', last), 'LIMIT', 0, most_read)
  if not page[1] then return end
  local old, kept, drop = {}, {}, {}
  local number, decode, key_fault = need('value/number'), need('failure/decode'), need('value/key_fault')()
  for i = 1, #page do
    local jid = page[i]
    if #old == most_deleted then break end
    local job = pcall_redis('hmget', 'ql:j:' .. jid, 'state', 'failure', 'queue', 'worker', 'tags')
    local when = number(decode(job[2]).when)
    if job[1] ~= 'failed' then
      drop[#drop + 1] = jid
    elseif when and when > last then
      call('zadd', times, string.format('%.17g', when), jid)
    elseif not when or has_dependents(jid) or not is_sound(key_fault, jid, job) then
      kept[#kept + 1] = jid
    else
      old[#old + 1] = jid
    end
  end
  if drop[1] then in_chunks('zrem', times, drop, 1, #drop) end
  if old[1] then
    local related = need('dependency/any_related')(old, 1, #old)
    need('job/delete')(now, old, related, call('exists', 'ql:tracked') == 1)
  end
  if #kept > most_kept then
    local later = string.format('%.17g', last + 60)
    for i = 1, #kept do call('zadd', times, later, kept[i]) end
  end
end
elseif name == 'job/delete' then
local call, encode = redis.call, cjson.encode
return function(now, jids, related, tracked, known, most)
  local count = #jids
  local failed, untag, leave_all, remove_from_state_set
  local jobs, deleted, tags_of, links = {}, {}, nil, 0
  for i = 1, count do
    local job = known and known[jids[i]]
    if not job then
      job = call('hmget', 'ql:j:' .. jids[i], 'state', 'queue', 'failure', 'worker', 'tags', 'throttles')
      if job[5] and job[5] ~= '{}' then
        tags_of = tags_of or need('job/tags')
        job.tag_list = tags_of(job[5])
        links = links + #job.tag_list
      end
      if related then
        local names = call('smembers', 'ql:j:' .. jids[i] .. '-dependencies')
        for k = 1, #names do call('scard', 'ql:j:' .. names[k] .. '-dependents') end
        job.dependencies = names
        links = links + #names
      end
      if most and links > most and i > 1 then
        error('Cancel(): jids with more than ' .. most .. ' tags and dependencies')
      end
    end
    jobs[i] = job
  end
  for i = 1, count do
    local jid = jids[i]
    local key = 'ql:j:' .. jid
    local job = deleted[jid] and {false, false, false, false, false} or jobs[i]
    local state, queue, worker = job[1], job[2], job[4]
    if state ~= 'complete' then
      local message = '{"jid":' .. encode(jid) .. ',"queue":' .. encode(queue) .. ',"event":"canceled","worker":' ..
        (worker == '' and '""' or encode(worker)) .. '}'
      call('publish', 'ql:log', message)
      if worker and worker ~= '' then
        call('zrem', 'ql:w:' .. worker .. ':jobs', jid)
        call('publish', 'ql:w:' .. worker, message)
      end
      if job[6] then
        leave_all = leave_all or need('job/leave_all')
        leave_all(now, jid, state, queue or '', job[6])
      end
      if state == 'waiting' and queue and call('zrem', 'ql:q:' .. queue .. '-work', jid) == 1 then
        queue = nil
      end
      if queue then
        remove_from_state_set = remove_from_state_set or need('queue/remove_from_state_set')
        remove_from_state_set(jid, state, queue)
      end
      local names = job.dependencies
      if names then
        for k = 1, #names do call('srem', 'ql:j:' .. names[k] .. '-dependents', jid) end
      end
      if state == 'failed' then
        if count == 1 then
          need('failure/leave')(jid, job[3], queue or '')
        else
          failed = failed or {}
          failed[#failed + 1] = {jid, job[3], queue or ''}
        end
      end
      if job.tag_list then
        untag = untag or need('job/untag')
        untag(jid, job.tag_list)
      end
      if tracked and call('zscore', 'ql:tracked', jid) then call('publish', 'ql:canceled', jid) end
      call('del', key, key .. '-history', key .. '-dependencies', key .. '-dependents')
      deleted[jid] = true
    end
  end
  if failed then need('failure/leave_many')(failed) end
end
elseif name == 'value/args_from' then
return function(argv, first)
  local args = {}
  for i = first, #argv do args[i - first + 1] = argv[i] end
  return args
end
elseif name == 'stats/count' then
return function(key, field, n)
  if type(redis.pcall('hincrby', key, field, n)) ~= 'number' then redis.pcall('hset', key, field, n) end
end
elseif name == 'value/defaults' then
return function()
  local all = {
    application = 'qless',
    ['grace-period'] = 10,
    heartbeat = 60,
    ['histogram-history'] = 7,
    ['jobs-history'] = 604800,
    ['jobs-history-count'] = 50000,
    ['stats-history'] = 30,
  }
  if false then
    all['jobs-failed-history'], all['backoff-initial-delay'], all['backoff-factor'] = 604800, 0, 3
  end
  return all
end
elseif name == 'value/integer' then
return function(n)
  if n % 1 ~= 0 or n > 9e15 or n < -9e15 then redis.call('zrange', 'ql:queues', n, n) end
end
elseif name == 'value/document' then
return function(text)
  if not text then return '{}' end
  local ok, json = pcall(cjson.decode, text)
  if not ok or type(json) ~= 'table' then return '{}' end
  ok, json = pcall(cjson.encode, json)
  return ok and json or '{}'
end
elseif name == 'value/set_json' then
return function(key)
  local list = redis.pcall('smembers', key)
  if not list[1] then return '{}' end
  table.sort(list)
  return cjson.encode(list)
end
elseif name == 'history/legacy' then
local function moment(value)
  local n = tonumber(value)
  if n and n - n == 0 then return math.floor(n) end
end
local function name(value)
  local kind = type(value)
  if kind == 'string' then return value, true end
  return kind == 'number' and '' .. value or '', (pcall(cjson.encode, value))
end
return function(text)
  local ok, old = pcall(cjson.decode, text)
  if not ok or type(old) ~= 'table' then return nil, false end
  local entries, whole = {}, true
  for _, item in ipairs(old) do
    if type(item) == 'table' then
      local times = {put = moment(item.put)}
      whole = whole and times.put
      for _, what in ipairs({'popped', 'failed', 'done'}) do
        times[what] = item[what] and moment(item[what])
        if item[what] and not times[what] then whole = false end
      end
      local queue, queue_fits = name(item.q)
      local worker, worker_fits = name(item.worker)
      whole = whole and queue_fits and (worker_fits or not times.popped)
      local function add(what, detail)
        if times[what] then entries[#entries + 1] = cjson.encode({times[what], what, detail}) end
      end
      add('put', {q = queue})
      add('popped', {worker = worker})
      add('failed')
      add('done')
    else
      whole = false
    end
  end
  return entries, whole and true
end
elseif name == 'history/migrate' then
return function(jid, text)
  local entries = need('history/legacy')(text)
  if not entries then return end
  local key = 'ql:j:' .. jid
  if redis.call('hget', key, 'history') ~= text then return end
  for i = 1, #entries do redis.call('rpush', key .. '-history', entries[i]) end
  redis.call('hdel', key, 'history')
end
elseif name == 'history/entry_time' then
return function(entry)
  if not entry then return nil end
  local plain = string.match(entry, '^%[(%-?%d+),"')
  if plain then return plain end
  local ok, list = pcall(cjson.decode, entry)
  if ok and type(list) == 'table' and type(list[1]) == 'number' and list[1] - list[1] == 0 then
    return '' .. list[1]
  end
end
elseif name == 'job/mark' then
return function(jid, state, queue)
  local key = 'ql:j:' .. jid .. '-history'
  local length = redis.pcall('llen', key)
  if type(length) ~= 'number' then length = 0 end
  local entry = length > 0 and redis.call('lrange', key, -1, -1)[1]
  local when = entry and (string.match(entry, '^%[(%-?%d+),"') or need('history/entry_time')(entry)) or nil
  return (state or '') .. ':' .. (when or '-') .. ':' .. length .. ':' .. (queue or ''), when
end
elseif name == 'value/sort' then
return function(list)
  local plain = true
  for i = 1, #list do
    if string.find(list[i], '[^0-9a-z]') then
      plain = false
      break
    end
  end
  if plain then
    table.sort(list)
    return list
  end
  local digits, texts = {}, {}
  for i = 0, 255 do digits[string.char(i)] = string.format('%02x', i) end
  for i = 1, #list do
    local hex = string.gsub(list[i], '.', digits)
    list[i], texts[hex] = hex, list[i]
  end
  table.sort(list)
  for i = 1, #list do list[i] = texts[list[i]] end
  return list
end
elseif name == 'value/members' then
return function(key)
  local list = redis.pcall('smembers', key)
  if list.err then
    need('value/wrong_type')(list, false, 'set', key, 'smembers', key)
    return {}
  end
  if not list[2] then return list end
  return need('value/sort')(list)
end
elseif name == 'value/json_arg' then
return function(what, text)
  if string.find(text, '%z') then error('Guard(): NUL byte in ' .. what) end
  local ok, value = pcall(cjson.decode, text)
  if not ok then error('Guard(): ' .. what .. ' is not JSON: ' .. tostring(value)) end
  return value
end
elseif name == 'value/object_arg' then
return function(what, text, kinds)
  if not text then error('Guard(): ' .. what .. ' missing') end
  local value = need('value/json_arg')(what, text)
  if type(value) ~= 'table' or not string.find(text, '^%s*{') then
    error('Guard(): ' .. what .. ' must be a JSON object')
  end
  local object = {}
  for name, member in pairs(value) do
    if not kinds[name] then error('Guard(): unknown member ' .. name .. ' of ' .. what) end
    if member ~= cjson.null then
      if type(member) ~= kinds[name] or kinds[name] == 'number' and member - member ~= 0 then
        error('Guard(): member ' .. name .. ' of ' .. what .. ' must be a ' .. kinds[name])
      end
      object[name] = member
    end
  end
  return object
end
elseif name == 'history/note' then
return function(seconds, text)
  if not text then error('Guard(): note missing') end
  if text == '' then return false end
  if #text > 4096 then error('Guard(): note longer than 4096 bytes') end
  local note = need('value/json_arg')('note', text)
  if type(note) ~= 'table' or not string.find(text, '^%s*{') then error('Guard(): note must be a JSON object') end
  for _, value in pairs(note) do
    local kind = type(value)
    if kind == 'table' or kind == 'number' and value - value ~= 0 then
      error('Guard(): values of a note must be texts, finite numbers, booleans or null')
    end
  end
  return '[' .. seconds .. ',"cli",' .. text .. ']'
end
elseif name == 'job/key_fault' then
return function(key_fault, jid, state, queue, worker, tags, failure)
  local key = 'ql:j:' .. jid
  local bad = key_fault('list', key .. '-history', 'set', key .. '-dependencies', 'set', key .. '-dependents',
    'zset', 'ql:tracked')
  if not bad and queue and queue ~= '' then
    local base = 'ql:q:' .. queue
    bad = key_fault('zset', base .. '-work', 'zset', base .. '-locks', 'zset', base .. '-scheduled',
      'zset', base .. '-depends')
  end
  if not bad and worker and worker ~= '' then bad = key_fault('zset', 'ql:w:' .. worker .. ':jobs') end
  if not bad and state == 'complete' then bad = key_fault('zset', 'ql:completed') end
  if not bad and state == 'failed' then
    local decoded = need('failure/decode')(failure)
    bad = key_fault('set', 'ql:failures')
    if not bad and type(decoded.group) == 'string' then bad = key_fault('list', 'ql:f:' .. decoded.group) end
  end
  if bad or not tags or tags == '{}' then return bad end
  local list, keys = need('job/tags')(tags), {'ql:tags'}
  for i = 1, #list do keys[i + 1] = 'ql:t:' .. list[i] end
  return key_fault('zset', keys), list
end
elseif name == 'dependency/classify' then
return function(names, wrote)
  local pending, complete, missing = {}, {}, {}
  for i = 1, #names do
    local key = 'ql:j:' .. names[i]
    local job = redis.pcall('hmget', key, 'jid', 'state')
    if job.err then need('value/wrong_type')(job, wrote, 'hash', key, 'hmget', key, 'jid', 'state') end
    if not job[1] then
      missing[#missing + 1] = names[i]
    elseif job[2] == 'complete' then
      complete[#complete + 1] = names[i]
    else
      pending[#pending + 1] = names[i]
    end
  end
  return pending, complete, missing
end
elseif name == 'dependency/find_cycle' then
return function(jid, names, wrote)
  local call = redis.call
  for i = 1, #names do
    if names[i] == jid then return {jid} end
  end
  if call('exists', 'ql:j:' .. jid .. '-dependents') == 0 then return nil end
  local stack, from, edges = {}, {}, 0
  for i = #names, 1, -1 do
    stack[#stack + 1] = names[i]
    from[names[i]] = jid
  end
  while stack[1] do
    local name = table.remove(stack)
    local key = 'ql:j:' .. name .. '-dependencies'
    local above = redis.pcall('smembers', key)
    if above.err then
      need('value/wrong_type')(above, wrote, 'set', key, 'smembers', key)
      above = {}
    end
    for i = 1, #above do
      edges = edges + 1
      if edges > 10000 then return false, 'more than 10000 dependencies above it' end
      local up = above[i]
      if up == jid then
        local path = {}
        while name ~= jid do
          table.insert(path, 1, name)
          name = from[name]
        end
        table.insert(path, 1, jid)
        return path
      end
      if not from[up] then
        from[up] = name
        stack[#stack + 1] = up
      end
    end
  end
end
elseif name == 'dependency/key_fault' then
return function(key_fault, jid)
  local names, keys = redis.call('smembers', 'ql:j:' .. jid .. '-dependencies'), {}
  for i = 1, #names do keys[i] = 'ql:j:' .. names[i] .. '-dependents' end
  return key_fault('set', keys), names
end
elseif name == 'value/outcome_row' then
return function(word, mark, ...)
  local row = {word, mark}
  for i = 1, select('#', ...) do
    local detail = select(i, ...)
    if type(detail) == 'table' then
      for k = 1, #detail do row[#row + 1] = detail[k] end
    else
      row[#row + 1] = detail
    end
  end
  return row
end
elseif name == 'job/restore' then
local Restore = {}
local function shallow(value, most)
  if type(value) ~= 'table' then return true end
  if most == 0 then return false end
  for _, member in pairs(value) do
    if not shallow(member, most - 1) then return false end
  end
  return true
end
function Restore.history(text)
  local list = need('value/json_arg')('history', text)
  if type(list) ~= 'table' or next(list) ~= nil and not string.find(text, '^%s*%[') then
    error('Guard(): history must be a JSON array')
  end
  for i = 1, #list do
    local entry = list[i]
    if type(entry) ~= 'string' then error('Guard(): history must hold texts') end
    local value = need('value/json_arg')('a history entry', entry)
    if type(value) ~= 'table' or type(value[1]) ~= 'number' or type(value[2]) ~= 'string' or #value > 3
      or (value[3] ~= nil and (type(value[3]) ~= 'table' or not string.find(entry, '}%s*%]%s*$')))
      or not shallow(value, 100) or not pcall(cjson.encode, value) then
      error('Guard(): not a history entry: ' .. string.sub(entry, 1, 100))
    end
  end
  return list
end
function Restore.failed(text)
  local failed = need('value/object_arg')('failed', text,
    {group = 'string', message = 'string', when = 'number', worker = 'string'})
  if not failed.group or not failed.when then error('Guard(): failed wants group and when') end
  if failed.group == '' then error('Guard(): failed wants a group') end
  failed.text = need('failure/encode')(failed.group, failed.message or '', failed.when, failed.worker or '')
  return failed
end
function Restore.payloads(text)
  local list = need('value/json_arg')('payloads', text)
  if type(list) ~= 'table' or not list[1] then error('Guard(): payloads must be a JSON array') end
  for i = 1, #list do
    local pair = list[i]
    if type(pair) ~= 'table' or type(pair[1]) ~= 'string' or type(pair[2]) ~= 'number' then
      error('Guard(): payloads must be pairs of text and score')
    end
    need('value/json_arg')('a payload', pair[1])
    pair[2] = string.format('%.17g', pair[2])
  end
  return list
end
return Restore
elseif name == 'job/put_args' then
local json, number = need('value/json_arg'), need('value/number')
return function(argv, first, count)
  if count < 5 or count % 2 == 0 then error('Guard(): a job has 5 words and pairs of options') end
  local delay = number(argv[first + 4])
  if not delay then error('Guard(): delay is not a number: ' .. argv[first + 4]) end
  local data = argv[first + 3]
  if json('data', data) == false then error('Guard(): data must not be the bare document false') end
  local o, given = {}, {}
  local job = {queue = argv[first], jid = argv[first + 1], klass = argv[first + 2], data = data, delay = delay, o = o,
    plain = true}
  for i = first + 5, first + count - 1, 2 do given[argv[i]] = argv[i + 1] end
  for name, value in pairs(given) do
    if name ~= 'priority' and name ~= 'retries' and name ~= 'at' and name ~= 'tags' then job.plain = false end
    if name == 'throttles' and string.find(value, '%z') then error('Guard(): NUL byte in throttles') end
    if name == 'priority' or name == 'retries' or name == 'remaining' or name == 'at' then
      local n = number(value)
      if not n then error('Guard(): ' .. name .. ' is not a number: ' .. value) end
      if name == 'remaining' and n % 1 ~= 0 then error('Guard(): remaining must be a whole number') end
      if name == 'remaining' then n = need('value/whole_tries')(n) end
      if name == 'at' then job.at = n else o[name] = n end
    elseif name == 'tags' or name == 'depends' then
      json(name, value)
      o[name] = need('value/names')(value, nil, name == 'tags' and 1000 or 5000)
      if not o[name] then error('Guard(): ' .. name .. ' must be a JSON array of texts') end
      if name == 'tags' then need('job/few_tags')('Guard', #o.tags) end
      if o[name][5001] then error('Guard(): Arg "depends" has more than 5000 jids') end
    elseif name == 'history' then
      o.history = need('job/restore').history(value)
    elseif name == 'failed' then
      o.failed = need('job/restore').failed(value)
    elseif name == 'spawned_from_jid' then
      o.spawned_from_jid = value
    elseif name == 'note' then
      job.note = value
    elseif name == 'payloads' then
      job.payloads = need('job/restore').payloads(value)
    elseif name ~= 'lane' and not need('option/given')({[name] = value}) then
      error('Guard(): unknown option ' .. name)
    end
  end
  if given.backoff then need('option/empty_backoff')(given, o) end
  if not job.plain and (given.lane or job.payloads or need('option/given')(given)) then
    job.x = need('option/read')(given, 'Guard')
    job.x.lane, job.x.payloads = given.lane, job.payloads
    if job.payloads and (not given.lane or given.dup ~= 'merge') then
      error('Guard(): payloads want a lane, and dup merge')
    end
  end
  if job.at and delay ~= 0 then error('Guard(): at and a delay exclude each other') end
  if o.failed and (o.depends and o.depends[1] or job.at or delay ~= 0) then
    error('Guard(): failed excludes depends, at and a delay')
  end
  local last = string.byte(job.jid, -1)
  if job.queue == '' then
    job.invalid = 'queue name is empty'
  elseif not last then
    job.invalid = 'jid is empty'
  elseif (last == 121 or last == 115) and need('job/reserved')(job.jid) then
    job.invalid = 'jid ends in -history, -dependencies, -dependents or -payloads'
  end
  return job
end
elseif name == 'job/put_new' then
return function(now, t, seconds, fault, progress)
  local call, encode, format, queues, names = redis.call, cjson.encode, string.format, {}, {}
  local stamp, age = format('%.20f', now), now / 10000000000
  local scores = {}
  local tracked, times = call('exists', 'ql:tracked') > 0, call('exists', 'ql:failed-jobs-list') > 0
  local jids = {}
  local function queue_of(name)
    local queue = queues[name]
    if not queue then
      local base, json = 'ql:q:' .. name, encode(name)
      queue = {name = name, base = base, work = {}, scheduled = {},
        entry = '[' .. seconds .. ',"put",{"q":' .. json .. '}]', event = ',"event":"put","queue":' .. json .. '}'}
      queue.bad = fault('hash', 'ql:config', 'zset', 'ql:queues', 'zset', base .. '-work',
        'zset', base .. '-scheduled', 'zset', base .. '-depends', 'zset', 'ql:tracked')
      queues[name], names[#names + 1] = queue, queue
    end
    return queue
  end
  local function put(queue, job)
    local jid, priority, retries, tags = job.jid, job.o.priority, job.o.retries, job.o.tags
    local key, stored = 'ql:j:' .. jid, '{}'
    if tags and tags[1] then
      local bad = fault('zset', 'ql:tags')
      for i = 1, #tags do bad = bad or fault('zset', 'ql:t:' .. tags[i]) end
      if bad then return nil, bad end
      stored = encode(tags)
    end
    local history, entry = key .. '-history', queue.entry
    local length = redis.pcall('rpush', history, entry)
    if length ~= 1 then
      if type(length) == 'table' then
        return nil, need('value/wrong_type')(length, progress.wrote, 'list', history, 'rpush', history, entry)
      end
      local limit = tonumber(redis.pcall('hget', 'ql:config', 'max-job-history') or 100) or 100
      if length > limit then need('history/trim')(history, length, limit) end
    end
    call('publish', 'ql:log', '{"jid":' .. encode(jid) .. queue.event)
    if stored ~= '{}' then
      for i = 1, #tags do
        if call('zadd', 'ql:t:' .. tags[i], t, jid) == 1 then call('zincrby', 'ql:tags', 1, tags[i]) end
      end
    end
    local list, score, state = queue.work, nil, 'waiting'
    if job.at and job.at > now or job.delay > 0 then
      list, score, state = queue.scheduled, format('%.17g', job.at or now + job.delay), 'scheduled'
    else
      score = scores[priority or 0]
      if not score then
        score = format('%.17g', (priority or 0) - age)
        scores[priority or 0] = score
      end
    end
    call('hmset', key, 'jid', jid, 'klass', job.klass, 'data', job.data, 'priority', priority or '0', 'tags', stored,
      'state', state, 'worker', '', 'expires', '0', 'queue', queue.name, 'retries', retries or '5',
      'remaining', retries and need('value/whole_tries')(retries) or '5', 'time', stamp)
    local n = #list
    list[n + 1], list[n + 2] = score, jid
    if times then jids[#jids + 1] = jid end
    if tracked and call('zscore', 'ql:tracked', jid) then call('publish', 'ql:put', jid) end
    return state
  end
  local function flush()
    local in_chunks = need('value/in_chunks')
    if jids[1] then need('failure/forget_times')(jids) end
    for i = 1, #names do
      local queue = names[i]
      local work, scheduled = queue.work, queue.scheduled
      if work[1] or scheduled[1] then
        if work[1] then in_chunks('zadd', queue.base .. '-work', work, 1, #work) end
        if scheduled[1] then in_chunks('zadd', queue.base .. '-scheduled', scheduled, 1, #scheduled) end
        call('zadd', 'ql:queues', 'NX', t, queue.name)
        queue.work, queue.scheduled = {}, {}
      end
    end
  end
  return queue_of, put, flush
end
elseif name == 'job/put_guarded' then
local function ages(jid)
  local key, entry_time = 'ql:j:' .. jid .. '-history', need('history/entry_time')
  local history = redis.pcall('lrange', key, -1000, -1)
  if history.err or not history[1] then return false, false end
  local first, put = entry_time(redis.call('lrange', key, 0, 0)[1]) or false, false
  for i = #history, 1, -1 do
    if string.find(history[i], '^%[%-?%d+,%s*"put"') then
      put = entry_time(history[i]) or false
      break
    end
  end
  return first, put
end
return function(now, t, seconds, policy, key_fault, progress, defaults)
  local refuse_missing = policy.missing ~= 'allow'
  local outcome, mark_of = need('value/outcome_row'), need('job/mark')
  local put, job_key_fault = need('job/put'), need('job/key_fault')
  local classify, find_cycle = need('dependency/classify'), need('dependency/find_cycle')
  local function mark(jid, old)
    return old[12] and (mark_of(jid, old[1], old[2])) or ''
  end
  return function(job)
    local jid, queue, o, row = job.jid, job.queue, job.o, nil
    local key, base = 'ql:j:' .. jid, 'ql:q:' .. queue
    local old = redis.pcall('hmget', key, 'state', 'queue', 'worker', 'priority', 'tags', 'retries', 'failure', 'history', 'grace', 'scheduled', 'throttles', 'jid')
    local invalid = job.invalid
      or old.err and need('value/wrong_type')(old, progress.wrote, 'hash', key, 'hmget', key, 'jid', 'state')
      or key_fault('hash', 'ql:config')
    if not invalid then
      invalid = key_fault('zset', 'ql:queues', 'list', key .. '-history', 'set', key .. '-dependencies',
        'zset', base .. '-work', 'zset', base .. '-scheduled', 'zset', base .. '-depends', 'zset', 'ql:tracked')
    end
    if not invalid and old[12] and not policy.replace then
      row = outcome('exists', mark(jid, old), ages(jid))
    elseif not invalid then
      local state, from, worker, tags = old[1], old[2], old[3], old[5]
      if state or from or worker or tags then
        invalid = job_key_fault(key_fault, jid, state, from, worker, tags, old[7])
      end
      if not invalid and o.tags then
        invalid = key_fault('zset', 'ql:tags')
        for k = 1, #o.tags do invalid = invalid or key_fault('zset', 'ql:t:' .. o.tags[k]) end
      end
      if not invalid and o.failed then
        local at = o.failed.when
        invalid = key_fault('set', 'ql:failures', 'list', 'ql:f:' .. o.failed.group,
          'hash', 'ql:s:stats:' .. at - at % 86400 .. ':' .. queue)
      end
    end
    local passed = {}
    if not invalid and not row and o.depends and o.depends[1] then
      local path, trouble = find_cycle(jid, o.depends, progress.wrote)
      if path then
        row = outcome('cycle', mark(jid, old), path)
      elseif path == false then
        invalid = trouble
      else
        local pending, complete, missing = classify(o.depends, progress.wrote)
        if missing[1] and refuse_missing then
          row = outcome('missing_dependency', mark(jid, old), missing)
        else
          o.pending, passed = pending, complete
          for k = 1, #missing do passed[#passed + 1] = missing[k] end
          for k = 1, #pending do invalid = invalid or key_fault('set', 'ql:j:' .. pending[k] .. '-dependents') end
          invalid = invalid or need('dependency/key_fault')(key_fault, jid)
        end
      end
    end
    if invalid then
      row = outcome('invalid', mark(jid, old), invalid)
    elseif not row then
      if job.at and job.at > now then o.due = string.format('%.17g', job.at) end
      o.note = job.entry
      local me, klass, data, delay = policy.me or '', job.klass, job.data, job.delay
      local took, state, behind = jid, nil, nil
      if job.x or defaults[queue] or old[11] then
        local ok
        ok, took, state, behind = pcall(need('job/put_extended'), now, t, seconds, me, queue, jid, klass, data, delay,
          o, old, job.x or {}, defaults[queue], 'Guard')
        if not ok then return outcome('invalid', mark(jid, old), need('value/error_text')(took)) end
        if not took then return outcome('cycle', mark(jid, old), behind) end
      else
        state = put(now, t, seconds, me, queue, jid, klass, data, delay, o, old)
      end
      if policy.lanes then
        row = outcome('done', '', state, took, behind or '', passed)
      else
        row = outcome('done', '', state, passed)
      end
      progress.wrote = true
    end
    return row
  end
end
elseif name == 'dependency/waiting_dependents' then
local members = need('value/members')
return function(jid, apart, most)
  local list, found, failed = members('ql:j:' .. jid .. '-dependents'), {}, {}
  if most and #list > most then return end
  for i = 1, #list do
    local key = 'ql:j:' .. list[i]
    local above = key .. '-dependencies'
    local state, edge = redis.pcall('hget', key, 'state'), redis.pcall('sismember', above, jid)
    if type(state) == 'table' then need('value/wrong_type')(state, false, 'hash', key, 'hget', key, 'state') end
    if type(edge) == 'table' then need('value/wrong_type')(edge, false, 'set', above, 'sismember', above, jid) end
    local into = state == 'depends' and found or state == 'failed' and failed
    if into and edge == 1 and not (apart and need('lane/precedes')(jid, list[i])) then into[#into + 1] = list[i] end
  end
  return found, failed
end
elseif name == 'dependency/keep_blocked' then
return function(going, below)
  local above, stays = {}, {}
  for jid, list in pairs(below) do
    for k = 1, #list do
      local name = list[k]
      above[name] = above[name] or {}
      table.insert(above[name], jid)
      if not going[name] then stays[name] = true end
    end
  end
  local stack = {}
  for name in pairs(stays) do stack[#stack + 1] = name end
  while stack[1] do
    local name = table.remove(stack)
    for _, jid in ipairs(above[name] or {}) do
      if going[jid] then
        going[jid] = nil
        stack[#stack + 1] = jid
      end
    end
  end
  local staying = {}
  for jid, list in pairs(below) do
    if not going[jid] then
      staying[jid] = {}
      for k = 1, #list do
        if not going[list[k]] then table.insert(staying[jid], list[k]) end
      end
    end
  end
  return staying
end
elseif name == 'queue/oldest' then
return function(now, t, queue)
  local call = redis.call
  local base = 'ql:q:' .. queue
  local oldest, since, which
  local function consider(jid, text)
    local when = tonumber(text)
    if when and when <= now and (not oldest or when < oldest) then oldest, since, which = when, text, jid end
  end
  local first = call('zrevrange', base .. '-work', 0, 0, 'WITHSCORES')
  local lowest = tonumber(call('zrange', base .. '-work', 0, 0, 'WITHSCORES')[2])
  for _ = 1, 20 do
    if not first[1] then break end
    local score = tonumber(first[2])
    local priority = math.ceil(score)
    local arrival = (priority - score) * 10000000000
    if score ~= priority and arrival <= now then
      consider(first[1], string.format('%.3f', arrival))
    else
      local newest = redis.pcall('lrange', 'ql:j:' .. first[1] .. '-history', -1, -1)
      consider(first[1], not newest.err and need('history/entry_time')(newest[1]) or '')
    end
    if lowest == score or score ~= priority and lowest > priority - 1 then break end
    local below = score == priority and string.format('(%.17g', score) or string.format('%.17g', priority - 1)
    first = call('zrevrangebyscore', base .. '-work', below, '-inf', 'WITHSCORES', 'LIMIT', 0, 1)
  end
  local due = call('zrangebyscore', base .. '-scheduled', '-inf', t, 'WITHSCORES', 'LIMIT', 0, 1)
  if due[1] then consider(due[1], due[2]) end
  return since, which
end
elseif name == 'ending/retry' then
return function(b, argv)
  local call, now, seconds = redis.call, b.now, b.seconds
  return function(jid, queue, first, last)
    local text = first <= last and argv[first] or 0
    local group = first + 1 <= last and argv[first + 1] or nil
    local message = first + 2 <= last and argv[first + 2] or nil
    local delay = need('value/number')(text)
    if not delay then return b.invalid('Retry(): Arg "delay" not a number: ' .. text) end
    local key = 'ql:j:' .. jid
    local job = redis.pcall('hmget', key, 'state', 'worker', 'queue', 'priority', 'remaining', 'retries', 'grace', 'history', 'throttles')
    if job.err then return b.invalid(need('value/wrong_type')(job, b.wrote, 'hash', key, 'hget', key, 'jid')) end
    if job[1] ~= 'running' or job[2] ~= b.worker then return b.refuse(jid) end
    if job[9] then return b.single('retry', argv, jid, queue, first, last) end
    local left = tonumber(job[5]) or tonumber(job[6]) or 0
    if left - left ~= 0 then left = 0 end
    left = need('value/whole_tries')(left) - 1
    local home_name, named, failure = job[3] or queue, group and message, nil
    local home, target = b.queue(home_name), b.queue(queue)
    local bad = home.bad or b.fault('zset', 'ql:queues')
    if named then failure = need('failure/encode')(group, message, seconds, b.worker) end
    if left < 0 then
      group = group or 'failed-retries-' .. queue
      if not named then
        failure = need('failure/encode')(group, 'Job exhausted retries in queue "' .. home_name .. '"', seconds, '')
      end
      bad = bad or b.fault('list', key .. '-history', 'set', 'ql:failures', 'list', 'ql:f:' .. group,
        'zset', 'ql:tracked') or select(2, b.failed_age())
      if bad then return b.invalid(bad) end
      if job[8] then need('history/migrate')(jid, job[8]) end
      need('history/append')(jid, '[' .. seconds .. ',"failed",{"group":' .. cjson.encode(group) .. '}]', b.limit)
      b.wrote = true
      call('hmset', key, 'remaining', left, 'state', 'failed', 'worker', '', 'expires', '', 'failure', failure,
        'queue', queue)
      need('ending/enter_failed')(b, target, jid, group)
      if b.any and call('zscore', 'ql:tracked', jid) then call('publish', 'ql:failed', jid) end
    else
      bad = bad or b.fault('zset', target.base .. '-work', 'zset', target.base .. '-scheduled')
      if bad then return b.invalid(bad) end
      local state = delay > 0 and 'scheduled' or 'waiting'
      if failure then
        call('hmset', key, 'remaining', left, 'state', state, 'failure', failure)
      else
        call('hmset', key, 'remaining', left, 'state', state)
      end
      b.wrote = true
      if home_name ~= queue then call('hset', key, 'queue', queue) end
      need('ending/place')(target, jid, delay > 0 and string.format('%.17g', now + delay), job[4], now)
    end
    target.listed = true
    if job[7] then call('hdel', key, 'grace') end
    home.locks[#home.locks + 1] = jid
    b.held[#b.held + 1] = jid
    return {'done', string.format('%.14g', left)}
  end
end
elseif name == 'ending/fail' then
return function(b, argv)
  local call, encode = redis.call, cjson.encode
  local w, seconds = encode(b.worker), b.seconds
  return function(jid, queue, first, last)
    local group = first <= last and argv[first] or nil
    local message = first + 1 <= last and argv[first + 1] or nil
    local data = first + 2 <= last and argv[first + 2] or ''
    if not group then return b.invalid('Fail(): Arg "group" missing') end
    if not message then return b.invalid('Fail(): Arg "message" missing') end
    if data ~= '' then
      local ok, value = pcall(cjson.decode, data)
      if not ok then return b.invalid(value) end
      if value == false then
        data = ''
      elseif string.find(data, '\0', 1, true) then
        data = encode(value)
      end
    end
    local key = 'ql:j:' .. jid
    local job = redis.pcall('hmget', key, 'state', 'worker', 'queue', 'history', 'grace', 'throttles')
    if job.err then return b.invalid(need('value/wrong_type')(job, b.wrote, 'hash', key, 'hget', key, 'jid')) end
    if job[1] ~= 'running' or job[2] ~= b.worker then return b.refuse(jid) end
    if job[6] then return b.single('fail', argv, jid, queue, first, last) end
    local home = b.queue(job[3] or '')
    local bad = home.bad or b.fault('list', key .. '-history', 'set', 'ql:failures', 'list', 'ql:f:' .. group,
      'zset', 'ql:tracked') or select(2, b.failed_age())
    if bad then return b.invalid(bad) end
    local g, m = encode(group), encode(message)
    if job[4] then need('history/migrate')(jid, job[4]) end
    need('history/append')(jid, '[' .. seconds .. ',"failed",{"group":' .. g .. ',"worker":' .. w .. '}]', b.limit)
    b.wrote = true
    call('publish', 'ql:log', '{"message":' .. m .. ',"jid":' .. encode(jid) .. ',"group":' .. g ..
      ',"event":"failed","worker":' .. w .. '}')
    if b.any and call('zscore', 'ql:tracked', jid) then call('publish', 'ql:failed', jid) end
    local failure = '{"group":' .. g .. ',"message":' .. m .. ',"when":' .. seconds .. ',"worker":' .. w .. '}'
    if data ~= '' then
      call('hmset', key, 'state', 'failed', 'worker', '', 'expires', '', 'failure', failure, 'data', data)
    else
      call('hmset', key, 'state', 'failed', 'worker', '', 'expires', '', 'failure', failure)
    end
    if job[5] then call('hdel', key, 'grace') end
    home.locks[#home.locks + 1] = jid
    b.held[#b.held + 1] = jid
    need('ending/enter_failed')(b, home, jid, group)
    return {'done', 'failed'}
  end
end
elseif name == 'ending/enter_failed' then
return function(b, queue, jid, group)
  queue.failed = queue.failed + 1
  local list = b.groups[group]
  if not list then
    list = {}
    b.groups[group] = list
  end
  list[#list + 1] = jid
  b.failed[#b.failed + 1] = jid
end
elseif name == 'value/error_text' then
return function(error)
  local text = type(error) == 'table' and error.err or tostring(error)
  return (string.gsub(text, '^user_script:%d+: ', ''))
end
elseif name == 'option/backoff' then
return function(text)
  local kind, rest = string.match(text, '^(%l+)(.*)$')
  local most = kind == 'fixed' and 1 or kind == 'linear' and 1 or kind == 'exp' and 4 or kind == 'lowkiq' and 1
  if not most then return nil end
  local numbers = {}
  while rest ~= '' do
    local part, after = string.match(rest, '^:([%d.eE+]+)(.*)$')
    local n = part and tonumber(part)
    if not n or n - n ~= 0 or #numbers == most then return nil end
    numbers[#numbers + 1], rest = n, after
  end
  if kind ~= 'lowkiq' and not numbers[1] then return nil end
  if kind == 'exp' and (numbers[2] == 0 or numbers[3] == 0 or (numbers[4] or 0) > 1) then return nil end
  if kind == 'lowkiq' and numbers[1] == 0 then return nil end
  return kind, numbers
end
elseif name == 'option/defaults' then
return function(text, left)
  local ok, members = pcall(cjson.decode, text)
  if not ok or type(members) ~= 'table' then return nil end
  local d, number = {}, need('value/number')
  for name, value in pairs(members) do
    local known = false
    if type(value) == 'number' then value = string.format('%.14g', value) end
    if type(value) == 'boolean' then value = value and '1' or '0' end
    if name == 'throttles' and type(value) == 'table' then value = cjson.encode(value) end
    if type(name) == 'string' and type(value) == 'string' then
      if name == 'retries' or name == 'priority' then
        d[name] = number(value)
        known = d[name]
      elseif name == 'order' then
        d.due = value == 'due'
        known = d.due
      else
        local fine, x = pcall(need('option/read'), {[name] = value}, '')
        if fine then
          for key, parsed in pairs(x) do d[key], known = parsed, true end
        end
      end
    end
    if left and not known then left[#left + 1] = tostring(name) end
  end
  d.keyed = nil
  return d
end
elseif name == 'option/delay' then
return function(policy, jid, retries, remaining, now)
  if not policy then return 0 end
  local kind, numbers = need('option/backoff')(policy)
  if not kind then return 0 end
  local most = need('value/longest_delay')()
  retries = math.floor(need('value/number')(retries) or 5)
  local n = math.max(0, retries - remaining - 1)
  local function chance()
    local digest = redis.sha1hex(jid .. ':' .. n .. ':' .. string.format('%.17g', now))
    return tonumber(string.sub(digest, 1, 8), 16) / 4294967296
  end
  local first, delay = numbers[1], nil
  if kind == 'fixed' then
    delay = first
  elseif kind == 'linear' then
    delay = first * (n + 1)
  elseif kind == 'exp' then
    delay = math.min(first * (numbers[2] or 2) ^ n, numbers[3] or most)
    if numbers[4] then delay = delay * (1 + (2 * chance() - 1) * numbers[4]) end
  else
    delay = math.min(n ^ 4 + 15 + math.floor(chance() * 30) * (n + 1), first or most)
  end
  return math.min(delay, most)
end
elseif name == 'option/digits' then
return function(text)
  local quoted, at = {}, 1
  local function quote(word)
    if word ~= 'true' and word ~= 'false' and word ~= 'null' then return '"' .. word .. '"' end
  end
  while true do
    local from = string.find(text, '"', at, true)
    quoted[#quoted + 1] = string.gsub(string.sub(text, at, (from or 0) - 1), '[%w.+-]+', quote)
    if not from then return cjson.decode(table.concat(quoted)) end
    local to = from
    repeat
      to = string.find(text, '["\\]', to + 1)
      local escape = string.sub(text, to, to) == '\\'
      if escape then to = to + 1 end
    until not escape
    quoted[#quoted + 1], at = string.sub(text, from, to), to + 1
  end
end
elseif name == 'option/expand' then
return function(template, queue, klass, data)
  if not string.find(template, '{', 1, true) then return template end
  local whole, document, digits = true, nil, nil
  local function find(value, path)
    for part in string.gmatch(path, '%.([^.]*)') do
      if type(value) ~= 'table' then return nil end
      value = value[part]
    end
    return value
  end
  local function value_of(name)
    if name == 'klass' then return klass end
    if name == 'queue' then return queue end
    if name == 'data' then return data end
    local path = string.match(name, '^data(%..+)$')
    if not path then return nil end
    if document == nil then
      local ok, decoded = pcall(cjson.decode, data)
      document = ok and decoded or false
    end
    local value = find(document, path)
    local kind = type(value)
    if kind == 'string' then return value end
    if kind == 'number' then
      digits = digits or need('option/digits')(data)
      return find(digits, path)
    end
    if kind == 'boolean' then return tostring(value) end
    whole = false
  end
  local text = string.gsub(template, '{([^{}]*)}', value_of)
  return whole and text or nil
end
elseif name == 'option/given' then
return function(given)
  return given.key or given.throttles or given.lock or given.dup or given.backoff or given.hold or given.ttl
    or given.score or given.rescore or given['until']
end
elseif name == 'option/read' then
local choices = {
  dup = {'must be queue, merge, skip or replace', queue = true, merge = true, skip = true, replace = true},
  ['until'] = {'must be start or end', start = true, ['end'] = true},
  rescore = {'must be min or max', min = true, max = true},
  hold = {'must be 0 or 1', ['0'] = true, ['1'] = true},
}
return function(given, who)
  local x, number = {key = given.key, lock = given.lock}, need('value/number')
  local function refuse(name, why) error(who .. '(): Arg "' .. name .. '" ' .. why) end
  if given.throttles then
    local ok, list = pcall(need('value/names'), given.throttles)
    if not ok or not list then refuse('throttles', 'not JSON array: ' .. given.throttles) end
    if #list > 32 then refuse('throttles', 'has more than 32 ids') end
    for i = 1, #list do
      if need('throttle/reserved')(list[i]) then refuse('throttles', 'has an id that ends in -locks or -pending') end
    end
    x.throttles = list
  end
  if x.key and #x.key > 512 then refuse('key', 'longer than 512 bytes') end
  for _, name in ipairs({'dup', 'until', 'ttl', 'score', 'rescore', 'hold'}) do
    local value, choice = given[name], choices[name]
    if value then
      x.keyed = x.keyed or name
      if choice and not choice[value] then refuse(name, choice[1] .. ': ' .. value) end
    end
  end
  x.dup, x.rescore, x.starts = given.dup, given.rescore, given['until'] and given['until'] == 'start'
  x.hold = given.hold and given.hold == '1'
  if given.ttl then
    x.ttl = number(given.ttl)
    if not x.ttl or x.ttl <= 0 then refuse('ttl', 'not a positive number: ' .. given.ttl) end
  end
  if given.score then
    x.score = number(given.score)
    if not x.score then refuse('score', 'not a number: ' .. given.score) end
  end
  if given.backoff then
    x.backoff = given.backoff
    if x.backoff ~= '' and not need('option/backoff')(x.backoff) and not need('option/lost_lock')(x.backoff) then
      refuse('backoff', 'not a policy: ' .. given.backoff)
    end
  end
  return x
end
elseif name == 'option/stored' then
return function(given, stored, who)
  local read = {}
  for name, value in pairs(given) do read[name] = value ~= '' and value or nil end
  need('option/read')(read, who)
  for _, name in ipairs({'throttles', 'lock', 'key', 'dup', 'until', 'ttl', 'score', 'rescore', 'hold', 'backoff'}) do
    if given[name] then stored[name] = given[name] ~= '' and given[name] or nil end
  end
  if not stored.key then
    for _, name in ipairs({'dup', 'until', 'ttl', 'score', 'rescore', 'hold'}) do
      if stored[name] then error(who .. '(): "' .. name .. '" cannot be used without "key"') end
    end
  end
  return cjson.encode(stored)
end
elseif name == 'option/throttles' then
return function(x, own, d, queue, klass, data)
  local expand, list, seen = need('option/expand'), {}, {}
  local function add(id)
    if id and not seen[id] then
      seen[id] = true
      list[#list + 1] = id
    end
  end
  local function lock(text, template)
    if text == '*' then return 'lock:' .. klass .. ':' .. redis.sha1hex(data) end
    if template then text = expand(text, queue, klass, data) end
    return text and text ~= '' and 'lock:' .. (#text > 128 and redis.sha1hex(text) or text) or nil
  end
  local stored = own and own ~= '[ ]' and need('job/tags')(own) or nil
  if not x.throttles and not x.lock and stored then return nil end
  if x.throttles then
    for i = 1, #x.throttles do add(x.throttles[i]) end
  elseif stored then
    for i = 1, #stored do
      if string.sub(stored[i], 1, 5) ~= 'lock:' then add(stored[i]) end
    end
  elseif d and d.throttles then
    for i = 1, #d.throttles do
      local id = expand(d.throttles[i], queue, klass, data)
      if id and not need('throttle/reserved')(id) then add(id) end
    end
  end
  if x.lock then
    add(lock(x.lock))
  elseif d and d.lock and not stored and not (x.throttles and not x.throttles[1]) then
    add(lock(d.lock, true))
  end
  if not list[1] and not x.throttles and not x.lock then return nil end
  return list
end
elseif name == 'throttle/enter' then
return function(now, t, seconds, queue, jid, stored, priority, limit)
  local gate = need('throttle/gate')(now, t, seconds, queue)
  local full = gate.full(jid, need('job/tags')(stored))
  if full then
    local value = string.format('%.17g', now / 10000000000 - priority)
    need('throttle/hold')(seconds, jid, queue, full, value, limit)
  end
  gate.wake()
  return full ~= nil
end
elseif name == 'throttle/expire_holder' then
return function(now, t, seconds, jid, queue, grace)
  local call, key, base = redis.call, 'ql:j:' .. jid, 'ql:q:' .. queue
  local jids, jobs = need('queue/expire_locks')(now, t, seconds, queue, {jid}, grace)
  if not jids[1] then return end
  call('hmset', key, 'state', 'stalled', 'expires', '0', 'remaining', jobs[1][7])
  call('hdel', key, 'grace')
  call('zrem', base .. '-locks', jid)
  call('zadd', base .. '-work', '+inf', jid)
  need('ending/extended')(now, t, seconds, jid, 'timeout', queue, jobs[1][13])
end
elseif name == 'throttle/gate' then
return function(now, t, seconds, queue)
  local call, pcall, g, free, healed, released, fresh = redis.call, redis.pcall, {}, {}, {}, {}, {}
  function g.free(id)
    local count = free[id]
    if not count then
      local most = need('throttle/maximum')(id)
      local held = most ~= 0 and pcall('zcard', 'ql:th:' .. id .. '-locks')
      count = type(held) == 'number' and most - held or math.huge
      free[id] = count
    end
    return count
  end
  function g.full(jid, ids)
    for i = 1, #ids do
      local id = ids[i]
      if g.free(id) <= 0 and not call('zscore', 'ql:th:' .. id .. '-locks', jid) then
        if not healed[id] then
          healed[id] = true
          if g.before_heal then g.before_heal() end
          if need('throttle/heal')(now, t, seconds, id, queue, fresh) > 0 then released[id], g.healed = true, true end
          free = {}
        end
        if g.free(id) <= 0 then return id end
      end
    end
  end
  function g.take(jid, ids)
    fresh[jid] = true
    for i = 1, #ids do
      local id = ids[i]
      if pcall('zadd', 'ql:th:' .. id .. '-locks', 'NX', t, jid) == 1 and free[id] then
        free[id] = free[id] - 1
      end
    end
  end
  function g.release(jid, ids)
    for i = 1, #ids do
      local id = ids[i]
      if pcall('zrem', 'ql:th:' .. id .. '-locks', jid) == 1 then
        released[id], free[id] = true, nil
      end
    end
  end
  function g.wake()
    for id in pairs(released) do need('throttle/wake')(id) end
  end
  return g
end
elseif name == 'throttle/heal' then
return function(now, t, seconds, id, own, fresh)
  local call, locks = redis.call, 'ql:th:' .. id .. '-locks'
  local grace = need('value/number')(redis.pcall('hget', 'ql:config', 'grace-period')) or 10
  local dropped, oldest, judge = 0, call('zrange', locks, 0, 2), need('throttle/holder')
  for i = 1, #oldest do
    local jid = oldest[i]
    local fault, queue, warned = judge(now, id, jid, own, grace)
    if fault and not fresh[jid] then
      local lost = true
      if fault == 'expired' then
        need('throttle/expire_holder')(now, t, seconds, jid, queue, warned == '1' and 10 or 0)
        lost = call('hget', 'ql:j:' .. jid, 'state') ~= 'running'
      end
      if lost then
        call('zrem', locks, jid)
        dropped = dropped + 1
      end
    end
  end
  return dropped
end
elseif name == 'throttle/held_page' then
return function(now, queue)
  local call, held = redis.call, 'ql:q:' .. queue .. '-throttled'
  local others = call('zcard', held) - 5
  if others <= 5 then return call('zrange', held, 0, 9, 'WITHSCORES') end
  local from = 5 + tonumber(string.sub(redis.sha1hex(math.floor(now)), 1, 8), 16) % others
  local page, more = call('zrange', held, 0, 4, 'WITHSCORES'), call('zrange', held, from, from + 4, 'WITHSCORES')
  for i = 1, #more do page[#page + 1] = more[i] end
  return page
end
elseif name == 'throttle/hold' then
return function(seconds, jid, queue, id, value, limit)
  local call, encode = redis.call, cjson.encode
  local q, throttle = encode(queue), encode(id)
  need('history/append')(jid, '[' .. seconds .. ',"throttled",{"q":' .. q .. ',"throttle":' .. throttle .. '}]', limit)
  call('zadd', 'ql:q:' .. queue .. '-throttled', value, jid)
  redis.pcall('zadd', 'ql:th:' .. id .. '-pending', value, jid)
  call('hset', 'ql:j:' .. jid, 'state', 'throttled')
  call('publish', 'ql:ext', '{"jid":' .. encode(jid) .. ',"event":"throttled","queue":' .. q .. ',"throttle":' ..
    throttle .. '}')
end
elseif name == 'throttle/holder' then
return function(now, id, jid, own, grace)
  local job = redis.pcall('hmget', 'ql:j:' .. jid, 'state', 'queue', 'expires', 'grace', 'throttles')
  local queue, expires = job[2], tonumber(job[3])
  local carries = false
  for _, name in ipairs(need('job/tags')(job[5])) do carries = carries or name == id end
  if job[1] ~= 'running' or not carries then return 'lost' end
  if queue and queue ~= own and expires and expires + grace <= now then return 'expired', queue, job[4] end
end
elseif name == 'throttle/key_fault' then
return function(key_fault, queue, stored)
  local keys = {'zset', 'ql:q:' .. queue .. '-throttled'}
  for _, id in ipairs(need('job/tags')(stored)) do
    keys[#keys + 1], keys[#keys + 2] = 'zset', 'ql:th:' .. id .. '-pending'
  end
  return key_fault(unpack(keys))
end
elseif name == 'throttle/leave' then
return function(jid, state, queue, stored)
  local call, ids = redis.call, need('job/tags')(stored)
  for i = 1, #ids do
    local key = 'ql:th:' .. ids[i]
    if state == 'throttled' then redis.pcall('zrem', key .. '-pending', jid) end
    if redis.pcall('zrem', key .. '-locks', jid) == 1 then need('throttle/wake')(ids[i]) end
  end
  if state == 'throttled' then call('zrem', 'ql:q:' .. queue .. '-throttled', jid) end
end
elseif name == 'throttle/maximum' then
return function(id)
  local text = redis.pcall('hget', 'ql:th:' .. id, 'maximum')
  local n = type(text) == 'string' and need('value/number')(text)
  if n then return math.floor(n) end
  return string.sub(id, 1, 5) == 'lock:' and 1 or 0
end
elseif name == 'throttle/next_held' then
return function(now, queue)
  local decode, would_run = need('job/tags'), need('throttle/would_run')(now, queue)
  local page = need('throttle/held_page')(now, queue)
  for i = 1, #page, 2 do
    local jid = page[i]
    local job = redis.pcall('hmget', 'ql:j:' .. jid, 'state', 'queue', 'throttles')
    if job[1] == 'throttled' and job[2] == queue and would_run(jid, decode(job[3])) then
      return jid
    end
  end
end
elseif name == 'throttle/recheck' then
return function(now, queue, gate)
  local call, page = redis.call, need('throttle/held_page')(now, queue)
  local decode, taken, moved = need('job/tags'), {}, 0
  for i = 1, #page, 2 do
    local jid = page[i]
    local job = redis.pcall('hmget', 'ql:j:' .. jid, 'state', 'queue', 'throttles')
    if job[1] ~= 'throttled' or job[2] ~= queue then
      call('zrem', 'ql:q:' .. queue .. '-throttled', jid)
    else
      local ids = decode(job[3])
      local free = not gate.full(jid, ids)
      for k = 1, #ids do free = free and gate.free(ids[k]) > (taken[ids[k]] or 0) end
      if free then
        for k = 1, #ids do taken[ids[k]] = (taken[ids[k]] or 0) + 1 end
        need('throttle/return_to_work')(jid, queue, ids, page[i + 1])
        moved = moved + 1
      end
    end
  end
  return moved
end
elseif name == 'throttle/reorder' then
return function(jid, queue, before, priority)
  local call = redis.call
  before = need('value/number')(before) or 0
  local function move(key)
    if math.abs(before) < 9e15 and math.abs(priority) < 9e15 then
      redis.pcall('zadd', key, 'XX', 'INCR', before - priority, jid)
    else
      redis.pcall('zadd', key, 'XX', string.format('%.17g', -priority), jid)
    end
  end
  move('ql:q:' .. queue .. '-throttled')
  local ids = need('job/tags')(call('hget', 'ql:j:' .. jid, 'throttles'))
  for i = 1, #ids do move('ql:th:' .. ids[i] .. '-pending') end
end
elseif name == 'throttle/reserved' then
return function(id)
  return string.sub(id, -6) == '-locks' or string.sub(id, -8) == '-pending'
end
elseif name == 'throttle/return_to_work' then
return function(jid, queue, ids, value)
  local call = redis.call
  for i = 1, #ids do redis.pcall('zrem', 'ql:th:' .. ids[i] .. '-pending', jid) end
  call('zrem', 'ql:q:' .. queue .. '-throttled', jid)
  call('zadd', 'ql:q:' .. queue .. '-work', string.format('%.17g', -tonumber(value)), jid)
  call('hset', 'ql:j:' .. jid, 'state', 'waiting')
end
elseif name == 'throttle/slots' then
return function(jid)
  local held = {}
  for _, id in ipairs(need('job/tags')(redis.pcall('hget', 'ql:j:' .. jid, 'throttles'))) do
    if type(redis.pcall('zscore', 'ql:th:' .. id .. '-locks', jid)) == 'string' then held[#held + 1] = id end
  end
  return held
end
elseif name == 'throttle/wake' then
return function(id)
  local call, pending = redis.call, 'ql:th:' .. id .. '-pending'
  local waiting = redis.pcall('zcard', pending)
  if type(waiting) ~= 'number' or waiting == 0 then return end
  local most = need('throttle/maximum')(id)
  local free = most == 0 and 1000 or most - (tonumber(redis.pcall('zcard', 'ql:th:' .. id .. '-locks')) or 0)
  free = math.min(free, 5000)
  local decode = need('job/tags')
  while free > 0 do
    local page = call('zrange', pending, 0, math.min(free, 1000) - 1, 'WITHSCORES')
    if not page[1] then return end
    for i = 1, #page, 2 do
      local jid = page[i]
      local job = redis.pcall('hmget', 'ql:j:' .. jid, 'state', 'queue', 'throttles')
      local queue, held = job[2], false
      if job[1] == 'throttled' and queue then
        local ids = decode(job[3])
        for k = 1, #ids do held = held or ids[k] == id end
        if held then need('throttle/return_to_work')(jid, queue, {id}, page[i + 1]) end
      end
      if held then free = free - 1 else call('zrem', pending, jid) end
    end
  end
end
elseif name == 'lane/admit' then
return function(now, t, lane, jid, queue)
  local call, key = redis.call, 'ql:k:' .. lane
  local live, first = need('lane/live'), nil
  while true do
    local page = redis.pcall('zrange', key, 0, 0)
    if page.err then return true end
    first = page[1]
    if not first or first == jid or live(lane, first) then break end
    need('lane/leave')(now, lane, first)
  end
  if first == jid then return true end
  if not first then
    call('zadd', key, 1, jid)
    return true
  end
  local rank, before = call('zrank', key, jid), nil
  if rank then
    before = need('lane/before')(now, lane, jid, rank)
    if before and need('dependency/find_cycle')(jid, {before}, true) ~= nil then
      need('lane/leave')(now, lane, jid)
      before = need('lane/join')(now, lane, jid, true)
    end
  else
    before = need('lane/join')(now, lane, jid, true)
  end
  if not before then return true end
  need('dependency/link')(jid, {before})
  call('hset', 'ql:j:' .. jid, 'state', 'depends')
  call('zadd', 'ql:q:' .. queue .. '-depends', t, jid)
  return false
end
elseif name == 'lane/append' then
return function(lane, jid, place)
  local key = 'ql:k:' .. lane
  if place + 1 > place then return redis.call('zadd', key, place + 1, jid) end
  local entries, places = redis.call('zrange', key, 0, -1), {}
  entries[#entries + 1] = jid
  for i = 1, #entries do places[2 * i - 1], places[2 * i] = i, entries[i] end
  need('value/in_chunks')('zadd', key, places, 1, #places)
end
elseif name == 'lane/before' then
return function(now, lane, jid, rank)
  local call, key = redis.call, 'ql:k:' .. lane
  while rank and rank > 0 do
    local before = call('zrange', key, rank - 1, rank - 1)[1]
    if need('lane/live')(lane, before) then return before end
    need('lane/leave')(now, lane, before)
    rank = call('zrank', key, jid)
  end
end
elseif name == 'lane/close_window' then
return function(lane, jid)
  local window = redis.pcall('get', 'ql:u:' .. lane)
  if type(window) == 'string' and string.match(window, '^%S+ (.*)$') == jid then
    redis.call('del', 'ql:u:' .. lane)
  end
end
elseif name == 'lane/duplicate' then
local function started(state) return state == 'running' or state == 'failed' end
local function known(now, lane, last, state, starts)
  if last and not (starts and started(state)) then return last end
  local ends, name = string.match(redis.call('get', 'ql:u:' .. lane) or '', '^(%S+) (.*)$')
  return ends and (need('value/number')(ends) or 0) > now and name or nil
end
return function(now, queue, jid, klass, data, lane, dup, last, other, o, x, d, who, most)
  local fits = last and not started(other[1]) and other[2] == queue
  if dup == 'skip' then
    local starts = x.starts
    if starts == nil then starts = d.starts end
    local name = known(now, lane, last, last and other[1], starts)
    if not name then return nil end
    redis.call('publish', 'ql:ext', '{"jid":' .. cjson.encode(jid) .. ',"event":"skipped","key":' ..
      cjson.encode(lane) .. ',"queue":' .. cjson.encode(queue) .. '}')
    return name, 'skipped'
  elseif dup == 'merge' and fits and other[7] == 'merge' and other[6] == klass
    and not (o.depends and o.depends[1]) and not x.payloads then
    if most == nil then most = redis.pcall('hget', 'ql:config', 'merge-max') end
    local rescore = x.rescore or other[9]
    if need('merge/add')(last, data, x.score, rescore, need('merge/most')(most)) then return last, 'merged' end
  elseif dup == 'replace' and fits then
    local path = o.depends and o.depends[1] and need('lane/replace_depends')(last, o, who)
    if path then return nil, 'cycle', path end
    return last, 'replaced'
  end
end
elseif name == 'lane/heal' then
return function(now, lane, known)
  while true do
    local first = redis.call('zrange', 'ql:k:' .. lane, 0, 0)[1]
    if not first or first == known or need('lane/live')(lane, first) then return end
    need('lane/leave')(now, lane, first)
  end
end
elseif name == 'lane/join' then
local function renumber(key, entries, gap)
  local places, place, free = {}, 0, nil
  for i = 1, #entries, 2 do
    place = place + 1
    if i == gap then place, free = place + 1, place end
    places[i], places[i + 1] = place, entries[i]
  end
  need('value/in_chunks')('zadd', key, places, 1, #places)
  return free
end
return function(now, lane, jid, awaited)
  local call, key = redis.call, 'ql:k:' .. lane
  local last, _, place = need('lane/last')(now, lane)
  need('lane/heal')(now, lane, last)
  if last and awaited and need('dependency/find_cycle')(jid, {last}, true) ~= nil then
    local entries = call('zrange', key, 0, -1, 'WITHSCORES')
    local live, before, at = need('lane/live'), nil, nil
    for i = 1, #entries, 2 do
      local name, score = entries[i], tonumber(entries[i + 1])
      if live(lane, name) then
        if need('dependency/find_cycle')(jid, {name}, true) ~= nil then
          local middle = at and (at + score) / 2 or score - 1
          if not (middle < score and middle > (at or -math.huge)) then
            middle = renumber(key, entries, i)
          end
          call('zadd', key, string.format('%.17g', middle), jid)
          if before then need('dependency/unlink')(name, {before}) end
          need('dependency/link')(name, {jid})
          return before
        end
        before = name
      end
      at = score
    end
  end
  need('lane/append')(lane, jid, place)
  return last
end
elseif name == 'lane/last' then
return function(now, lane)
  local live = need('lane/live')
  while true do
    local last = redis.call('zrevrange', 'ql:k:' .. lane, 0, 0, 'WITHSCORES')
    local jid = last[1]
    if not jid then return nil, nil, 0 end
    local job = live(lane, jid)
    if job then return jid, job, tonumber(last[2]) end
    need('lane/leave')(now, lane, jid)
  end
end
elseif name == 'lane/leave' then
return function(now, lane, jid, released, keeps)
  local call, key = redis.call, 'ql:k:' .. lane
  local live, unlink = need('lane/live'), need('dependency/unlink')
  local first = redis.pcall('zrange', key, 0, 1)
  if first.err then return false end
  local rank, behind = 0, first[2]
  if first[1] ~= jid then
    rank = call('zrank', key, jid)
    if not rank then return false end
    behind = call('zrange', key, rank + 1, rank + 1)[1]
  end
  call('zrem', key, jid)
  local gone = {jid}
  local job = behind and live(lane, behind)
  while behind and not job do
    gone[#gone + 1] = behind
    call('zrem', key, behind)
    behind = call('zrange', key, rank, rank)[1]
    job = behind and live(lane, behind)
  end
  local before
  while rank > 0 do
    rank = rank - 1
    local name = call('zrange', key, rank, rank)[1]
    if name and (name == keeps or live(lane, name)) then
      before = name
      break
    end
    if name then
      call('zrem', key, name)
      gone[#gone + 1] = name
      unlink(jid, {name})
    end
  end
  if before then unlink(jid, {before}) end
  if not behind or released and not before and job[1] ~= 'depends' then return true end
  unlink(behind, gone)
  if before then
    need('dependency/link')(behind, {before})
  elseif job[1] == 'depends' and call('exists', 'ql:j:' .. behind .. '-dependencies') == 0 then
    need('dependency/release_job')(now, behind, job[2] or '', job[3], job[4])
  end
  return true
end
elseif name == 'lane/live' then
return function(lane, jid)
  local job = redis.pcall('hmget', 'ql:j:' .. jid, 'state', 'queue', 'priority', 'scheduled', 'key', 'klass', 'dup', 'hold', 'rescore')
  local state = job[1]
  if not state or job[5] ~= lane or state == 'complete' then return nil end
  if state == 'failed' and job[8] ~= '1' then return nil end
  return job
end
elseif name == 'lane/name' then
return function(queue, key)
  if string.byte(key) == 47 then return key end
  return queue .. '/' .. key
end
elseif name == 'lane/precedes' then
return function(jid, behind)
  local lane = redis.pcall('hget', 'ql:j:' .. jid, 'key')
  if type(lane) ~= 'string' or redis.pcall('hget', 'ql:j:' .. behind, 'key') ~= lane then return nil end
  local key = 'ql:k:' .. lane
  local rank = redis.call('zrank', key, behind)
  if not rank or rank == 0 then return nil end
  return redis.call('zrange', key, rank - 1, rank - 1)[1] == jid and lane or nil
end
elseif name == 'lane/rejoin' then
return function(now, lane, jid)
  if redis.call('zscore', 'ql:k:' .. lane, jid) then
    if need('lane/live')(lane, jid) then return nil end
    need('lane/leave')(now, lane, jid)
  end
  local before = need('lane/join')(now, lane, jid, true)
  if before then need('dependency/link')(jid, {before}) end
  return before
end
elseif name == 'lane/replace_depends' then
return function(jid, o, who)
  local names, pending = {}, {}
  for i = 1, #o.depends do
    if o.depends[i] ~= jid or who == 'Guard' then names[#names + 1] = o.depends[i] end
  end
  local path = need('dependency/find_cycle')(jid, names, true)
  if path ~= nil then return path or {jid} end
  for i = 1, #o.pending do
    if o.pending[i] ~= jid then pending[#pending + 1] = o.pending[i] end
  end
  o.pending = pending
end
elseif name == 'lane/unfail' then
return function(now, jid, lane, queue)
  local call, key = redis.call, 'ql:j:' .. jid
  local merge = call('hget', key, 'dup') == 'merge'
  if merge and need('merge/into_last')(now, jid, lane, queue) then return 'merged' end
  need('lane/rejoin')(now, lane, jid)
  if merge then call('hset', key, 'data', need('merge/compose')(jid)) end
  return call('exists', key .. '-dependencies') == 1 and 'depends' or 'waiting'
end
elseif name == 'merge/absorb' then
return function(now, jid, lane, queue)
  local call, key = redis.call, 'ql:k:' .. lane
  local rank = call('zrank', key, jid)
  local name = rank and call('zrange', key, rank + 1, rank + 1)[1]
  local job = name and need('lane/live')(lane, name)
  if not job or job[7] ~= 'merge' or job[1] == 'running' or job[1] == 'failed' then return end
  local own = call('hmget', 'ql:j:' .. jid, 'klass', 'rescore')
  if job[2] ~= queue or job[6] ~= own[1] then return end
  local above = call('smembers', 'ql:j:' .. name .. '-dependencies')
  if #above > 1 or above[1] and above[1] ~= jid then return end
  local mine, theirs = 'ql:j:' .. jid .. '-payloads', 'ql:j:' .. name .. '-payloads'
  local most = need('merge/most')(redis.pcall('hget', 'ql:config', 'merge-max'))
  if call('zcard', mine) + call('zcard', theirs) > most then return end
  call('zunionstore', mine, 2, mine, theirs, 'AGGREGATE', own[2] == 'max' and 'MAX' or 'MIN')
  need('merge/vanish')(now, name, jid)
end
elseif name == 'merge/add' then
return function(jid, payload, score, rescore, most)
  local call, key = redis.call, 'ql:j:' .. jid
  if string.find(payload, '%z') then payload = cjson.encode(cjson.decode(payload)) end
  local set = key .. '-payloads'
  local stored, all, at = call('zrange', set, 0, -1, 'WITHSCORES'), {}, nil
  if #stored >= 2 * most then return false end
  local before
  for i = 1, #stored, 2 do
    all[#all + 1] = stored[i]
    if stored[i] == payload then before = tonumber(stored[i + 1]) end
    if tonumber(stored[i + 1]) >= score then at = at or #all end
  end
  local worse = before and (rescore == 'max' and before >= score or rescore ~= 'max' and before <= score)
  if not worse then call('zadd', set, string.format('%.17g', score), payload) end
  if not before and not at then
    all[#all + 1] = payload
  elseif not worse then
    all = call('zrange', set, 0, -1)
  end
  call('hset', key, 'data', '[' .. table.concat(all, ',') .. ']')
  return true
end
elseif name == 'merge/into_last' then
local function refresh(now, jid, job)
  local call, key = redis.call, 'ql:j:' .. jid
  local retries = need('value/number')(call('hget', key, 'retries')) or 5
  call('hset', key, 'remaining', need('value/whole_tries')(retries))
  if job[1] == 'scheduled' then
    call('zrem', 'ql:q:' .. job[2] .. '-scheduled', jid)
    local priority = need('value/number')(job[3]) or 0
    call('zadd', 'ql:q:' .. job[2] .. '-work', priority - now / 10000000000, jid)
    call('hset', key, 'state', 'waiting')
  elseif job[4] then
    call('hdel', key, 'scheduled')
  end
end
return function(now, jid, lane, queue)
  local call, key = redis.call, 'ql:j:' .. jid
  if call('zscore', 'ql:k:' .. lane, jid) then return false end
  local last, job = need('lane/last')(now, lane)
  if not last or job[7] ~= 'merge' or job[1] == 'running' or job[1] == 'failed'
    or job[2] ~= queue or job[6] ~= call('hget', key, 'klass') then
    return false
  end
  local theirs, mine = 'ql:j:' .. last .. '-payloads', key .. '-payloads'
  local most = need('merge/most')(redis.pcall('hget', 'ql:config', 'merge-max'))
  if call('zcard', theirs) + call('zcard', mine) > most then return false end
  call('zunionstore', theirs, 2, theirs, mine, 'AGGREGATE', job[9] == 'max' and 'MAX' or 'MIN')
  call('hset', 'ql:j:' .. last, 'data', need('merge/compose')(last))
  refresh(now, last, job)
  need('merge/vanish')(now, jid, last, true)
  return true
end
elseif name == 'merge/begin' then
return function(jid, payload, x, fresh)
  local set = 'ql:j:' .. jid .. '-payloads'
  if fresh then redis.call('del', set) end
  if x.payloads then
    for i = 1, #x.payloads do redis.call('zadd', set, x.payloads[i][2], x.payloads[i][1]) end
  else
    need('merge/add')(jid, payload, x.score, x.rescore, math.huge)
  end
  return need('merge/compose')(jid)
end
elseif name == 'merge/compose' then
return function(jid)
  return '[' .. table.concat(redis.call('zrange', 'ql:j:' .. jid .. '-payloads', 0, -1), ',') .. ']'
end
elseif name == 'merge/most' then
return function(text)
  local n = type(text) == 'string' and need('value/number')(text)
  return n and n >= 1 and math.floor(n) or 1000
end
elseif name == 'merge/split' then
return function(now, t, seconds, jid, queue)
  local call, encode, key = redis.call, cjson.encode, 'ql:j:' .. jid
  local set = key .. '-payloads'
  if call('zcard', set) < 2 then return end
  local first = call('zrange', set, 0, 0, 'WITHSCORES')
  local stem, n = string.match(jid, '^(.*)~(%d+)$')
  if not stem or #n > 15 then stem, n = jid, 0 end
  local name
  repeat
    n = n + 1
    name = stem .. '~' .. string.format('%.0f', n)
  until call('exists', 'ql:j:' .. name) == 0
  local other = 'ql:j:' .. name
  call('zunionstore', other .. '-payloads', 1, set)
  call('zrem', other .. '-payloads', first[1])
  call('del', set)
  call('zadd', set, first[2], first[1])
  call('hset', key, 'data', '[' .. first[1] .. ']')
  local job = call('hmget', key, 'klass', 'priority', 'tags', 'retries', 'key')
  local retries, lane, quoted = need('value/number')(job[4]) or 5, job[5], encode(queue)
  call('rpush', other .. '-history', '[' .. seconds .. ',"put",{"q":' .. quoted .. '}]')
  call('publish', 'ql:log', '{"jid":' .. encode(name) .. ',"event":"put","queue":' .. quoted .. '}')
  local tags = need('job/tags')(job[3])
  for i = 1, #tags do
    if call('zadd', 'ql:t:' .. tags[i], t, name) == 1 then call('zincrby', 'ql:tags', 1, tags[i]) end
  end
  call('hmset', other, 'jid', name, 'klass', job[1] or '', 'data', need('merge/compose')(name),
    'priority', job[2] or '0', 'tags', tags[1] and encode(tags) or '{}', 'state', 'waiting', 'worker', '',
    'expires', '0', 'queue', queue, 'retries', retries, 'remaining', need('value/whole_tries')(retries),
    'time', string.format('%.20f', now), 'key', lane, 'dup', 'merge')
  for _, field in ipairs({'rescore', 'throttles', 'hold', 'backoff'}) do
    local value = call('hget', key, field)
    if value then call('hset', other, field, value) end
  end
  local priority = need('value/number')(job[2]) or 0
  call('zadd', 'ql:q:' .. queue .. '-work', priority - now / 10000000000, name)
  call('zadd', 'ql:queues', 'NX', t, queue)
  local members = 'ql:k:' .. lane
  local rank = call('zrank', members, jid)
  local behind = rank and call('zrange', members, rank + 1, rank + 1)[1]
  call('zadd', members, rank and call('zscore', members, jid) or 1, name)
  call('zrem', members, jid)
  if behind and need('dependency/unlink')(behind, {jid}) == 1 then need('dependency/link')(behind, {name}) end
end
elseif name == 'merge/vanish' then
return function(now, jid, into, apart)
  local call, key, encode = redis.call, 'ql:j:' .. jid, cjson.encode
  local job = call('hmget', key, 'state', 'queue', 'failure', 'tags', 'throttles', 'key')
  local state, queue = job[1], job[2] or ''
  if job[6] then need('lane/leave')(now, job[6], jid, false, into) end
  if job[5] then need('throttle/leave')(jid, state, queue, job[5]) end
  need('queue/remove_from_state_set')(jid, state, queue)
  if state == 'failed' and not apart then need('failure/leave')(jid, job[3], queue) end
  local unlink = need('dependency/unlink')
  local function relink(name)
    unlink(name, {jid})
    if name == into or need('dependency/find_cycle')(name, {into}, true) ~= nil then return end
    need('dependency/link')(name, {into})
  end
  local dependents, failed = need('dependency/waiting_dependents')(jid)
  for _, name in ipairs(failed) do relink(name) end
  for _, name in ipairs(dependents) do
    relink(name)
    if call('exists', 'ql:j:' .. name .. '-dependencies') == 0 then
      local waiting = call('hmget', 'ql:j:' .. name, 'queue', 'priority', 'scheduled')
      need('dependency/release_job')(now, name, waiting[1] or '', waiting[2], waiting[3])
    end
  end
  unlink(jid, call('smembers', key .. '-dependencies'))
  need('job/untag')(jid, need('job/tags')(job[4]))
  call('del', key, key .. '-history', key .. '-dependencies', key .. '-dependents', key .. '-payloads')
  call('publish', 'ql:ext', '{"jid":' .. encode(jid) .. ',"event":"merged","into":' .. encode(into) .. '}')
end
elseif name == 'job/put_extended' then
return function(now, t, seconds, me, queue, jid, klass, data, delay, o, old, x, defaults, who, most)
  local call, encode, key = redis.call, cjson.encode, 'ql:j:' .. jid
  local d = type(defaults) == 'string' and need('option/defaults')(defaults) or {}
  x.score = x.score or d.score or now
  local exists = old[1] or old[5] or old[3]
  local home, was
  if old[11] then
    local stored = call('hmget', key, 'key', 'dup')
    home, was = stored[1], stored[2]
  end
  local lane = home
  if x.lane or x.key then
    lane = x.lane or x.key ~= '' and need('lane/name')(queue, x.key)
  elseif not lane and d.key then
    local text = need('option/expand')(d.key, queue, klass, data)
    if text and #text > 512 then text = redis.sha1hex(text) end
    lane = text and text ~= '' and need('lane/name')(queue, text)
  end
  if x.keyed and not lane then error(who .. '(): "' .. x.keyed .. '" cannot be used without "key"') end
  local dup, last, place, other = x.dup or lane and not exists and d.dup, nil, nil, nil
  if lane and not exists then
    last, other, place = need('lane/last')(now, lane)
    if last and other[1] == 'depends' then need('lane/heal')(now, lane, last) end
    if dup then
      local took, how, path = need('lane/duplicate')(now, queue, jid, klass, data, lane, dup, last, other, o, x, d, who,
        most)
      if how == 'replaced' then
        jid, key, exists = last, 'ql:j:' .. last, 'replaced'
        old, home, was = call('hmget', key, 'state', 'queue', 'worker', 'priority', 'tags', 'retries', 'failure', 'history', 'grace', 'scheduled', 'throttles'), lane, other[7]
      elseif how then
        return took, how, path
      end
    end
  end
  if not exists then
    o.priority, o.retries = o.priority or d.priority, o.retries or d.retries
  end
  local list = need('option/throttles')(x, old[11], d, queue, klass, data)
  o.ids = list or old[11] and need('job/tags')(old[11])
  o.gate = o.ids and need('throttle/gate')(now, t, seconds, queue)
  for i = 1, o.ids and #o.ids or 0 do
    if o.gate.free(o.ids[i]) <= 0 then
      call('zcard', 'ql:th:' .. o.ids[i] .. '-pending')
      call('zcard', 'ql:q:' .. queue .. '-throttled')
    end
  end
  local merges = lane and (dup or was) == 'merge'
  if merges then call('zcard', key .. '-payloads') end
  if old[11] then
    need('throttle/leave')(jid, old[1], old[2] or '', old[11])
  end
  if home and home ~= lane then
    need('lane/leave')(now, home, jid)
    need('lane/close_window')(home, jid)
  end
  local hold, behind = x.hold, nil
  if hold == nil and not (exists and home) then hold = d.hold end
  if lane and (not o.failed or hold) then
    local rank = exists and call('zrank', 'ql:k:' .. lane, jid)
    if rank and not need('lane/live')(lane, jid) then
      need('lane/leave')(now, lane, jid)
      rank = false
    end
    if not exists then
      need('lane/heal')(now, lane, last)
      need('lane/append')(lane, jid, place)
      behind = last
    elseif rank then
      o.kept = need('lane/before')(now, lane, jid, rank)
    else
      behind = need('lane/join')(now, lane, jid, true)
    end
    if behind then
      o.kept = behind
      local pending = {behind}
      for i = 1, o.pending and #o.pending or 0 do
        if o.pending[i] ~= behind then pending[#pending + 1] = o.pending[i] end
      end
      o.pending = pending
    end
  end
  if merges then
    data = need('merge/begin')(jid, data, x, was ~= 'merge')
  elseif was then
    call('del', key .. '-payloads')
    call('hdel', key, 'dup', 'rescore')
  end
  local fields, drop = o.fields or {}, {}
  local plain = #fields
  local function store(name, value, none)
    if value then
      fields[#fields + 1], fields[#fields + 2] = name, value
    elseif none then
      drop[#drop + 1] = name
    end
  end
  local backoff = x.backoff
  if backoff == nil and not exists then backoff = d.backoff end
  if lane ~= home then store('key', lane, home) end
  store('dup', merges and 'merge')
  store('rescore', merges and (x.rescore or d.rescore))
  store('hold', hold and lane and '1', hold == false or not lane)
  local none = backoff == '' and not d.backoff
  store('backoff', not none and backoff, none)
  if list then
    store('throttles', list[1] and encode(list) or '[]')
  elseif not old[11] and fields[plain + 1] then
    store('throttles', '[ ]')
  end
  o.fields = fields[1] and fields
  local state = need('job/put')(now, t, seconds, me, queue, jid, klass, data, delay, o, old)
  if o.gate then o.gate.wake() end
  if drop[1] and exists then call('hdel', key, unpack(drop)) end
  local ttl = x.ttl or d.ttl
  if dup == 'skip' and ttl and lane and not exists then
    call('set', 'ql:u:' .. lane, string.format('%.17g', now + ttl) .. ' ' .. jid, 'PX',
      string.format('%.0f', math.min(ttl * 1000, 1e14) + 3600000))
  end
  return jid, exists == 'replaced' and 'replaced' or state, behind or o.kept
end
elseif name == 'job/render_extended' then
return function(jid, job)
  local encode, ids = cjson.encode, need('job/tags')(job[13])
  local ext = job.ext or need('job/extension')(jid)
  local text = ids[1] and ',"throttles":' .. encode(ids) or ''
  if ext[1] then text = text .. ',"key":' .. encode(ext[1]) end
  if ext[3] == '1' then text = text .. ',"hold":true' end
  local backoff = ext[5]
  if backoff and backoff ~= '' and backoff ~= '[]' and backoff ~= '{}' then
    text = text .. ',"backoff":' .. encode(backoff)
  end
  local fence = (ids[1] or ext[1]) and need('value/number')(ext[6])
  if fence then text = text .. ',"fence":' .. string.format('%.0f', fence) end
  if ext[2] == 'merge' then
    local set = redis.pcall('zrange', 'ql:j:' .. jid .. '-payloads', 0, -1, 'WITHSCORES')
    local rows = {}
    for i = 1, #set, 2 do
      local score = math.max(-1.7976931348623157e308, math.min(1.7976931348623157e308, tonumber(set[i + 1])))
      rows[#rows + 1] = '[' .. encode(set[i]) .. ',' .. string.format('%.17g', score) .. ']'
    end
    if rows[1] then text = text .. ',"payloads":[' .. table.concat(rows, ',') .. ']' end
  end
  return text .. '}'
end
elseif name == 'job/leave_all' then
return function(now, jid, state, queue, throttles)
  local call = redis.call
  local lane = call('hget', 'ql:j:' .. jid, 'key')
  if lane then
    need('lane/leave')(now, lane, jid)
    call('del', 'ql:j:' .. jid .. '-payloads')
    need('lane/close_window')(lane, jid)
  end
  need('throttle/leave')(jid, state, queue, throttles)
end
elseif name == 'ending/extended' then
return function(now, t, seconds, jid, how, queue, throttles)
  local ext, key = need('job/extension')(jid), 'ql:j:' .. jid
  local lane = ext[1]
  if lane then
    local leaves = ext[3] ~= '1'
    if ext[2] == 'merge' then
      if how == 'retry' or how == 'exhausted' and leaves then need('merge/absorb')(now, jid, lane, queue) end
      if how == 'exhausted' and leaves then need('merge/split')(now, t, seconds, jid, queue) end
      redis.call('hset', key, 'data', need('merge/compose')(jid))
    end
    if leaves and (how == 'fail' or how == 'exhausted') then need('lane/leave')(now, lane, jid) end
  end
  need('throttle/leave')(jid, 'running', queue, throttles)
end
elseif name == 'ending/finish' then
return function(now, jid, queue, following, throttles, x)
  local call, key, f = redis.call, 'ql:j:' .. jid, {}
  local ext = throttles and need('job/extension')(jid) or {}
  local lane, dup = ext[1], ext[2]
  local new = lane
  if x and x.key then new = x.key ~= '' and need('lane/name')(following, x.key) end
  if x and x.keyed and not new then error('Complete(): "' .. x.keyed .. '" cannot be used without "key"') end
  function f.join(pending)
    if new == lane then return pending end
    if lane then need('lane/leave')(now, lane, jid) end
    local before = new and need('lane/join')(now, new, jid, true)
    if not before then return pending end
    local all = {before}
    for i = 1, pending and #pending or 0 do
      if pending[i] ~= before then all[#all + 1] = pending[i] end
    end
    return all
  end
  function f.run(data)
    if dup == 'merge' then
      call('del', key .. '-payloads')
      call('hdel', key, 'dup', 'rescore')
    end
    if lane and not following then need('lane/leave')(now, lane, jid, true) end
    if throttles then need('throttle/leave')(jid, 'running', queue, throttles) end
    if not x then return end
    if new then call('hset', key, 'key', new) elseif lane then call('hdel', key, 'key', 'hold') end
    local job = call('hmget', key, 'klass', 'throttles')
    local list = need('option/throttles')(x, job[2], nil, following, job[1] or '', data)
    if list then
      call('hset', key, 'throttles', list[1] and cjson.encode(list) or '[]')
    elseif not job[2] then
      call('hset', key, 'throttles', '[ ]')
    end
    if x.hold ~= nil then
      if x.hold then call('hset', key, 'hold', '1') else call('hdel', key, 'hold') end
    end
    if x.backoff == '' then
      call('hdel', key, 'backoff')
    elseif x.backoff then
      call('hset', key, 'backoff', x.backoff)
    end
  end
  return f
end
elseif name == 'queue/admit' then
return function(now, t, seconds, queue, d, gate, limit)
  local call, decode, hold = redis.call, need('job/tags'), nil
  return function(jid, job, lost, score)
    local key = 'ql:j:' .. jid
    local list = need('option/throttles_at_pop')(d, queue, job)
    if list then
      job[13] = cjson.encode(list)
      call('hset', key, 'throttles', job[13])
    end
    local backs_off = d and d.backoff
    if not job[13] and not backs_off then return true end
    local ext = need('job/extension')(jid)
    job.ext = ext
    if backs_off and (not ext[5] or ext[5] == '[]' or ext[5] == '{}') then
      ext[5], job[13] = d.backoff, job[13] or '[ ]'
      call('hmset', key, 'backoff', d.backoff, 'throttles', job[13])
    end
    local lane, stored = ext[1], job[13]
    if job[4] ~= queue then call('hset', key, 'queue', queue) end
    if lane then
      if not need('lane/admit')(now, t, lane, jid, queue) then return false end
      if ext[2] == 'merge' and (lost or job[3] == 'stalled') then
        need('merge/absorb')(now, jid, lane, queue)
        job[8] = need('merge/compose')(jid)
        call('hset', key, 'data', job[8])
      end
    end
    local ids = decode(stored)
    job.fenced = lane or ids[1]
    local id = gate.full(jid, ids)
    if id then
      score = not lost and tonumber(score or call('zscore', 'ql:q:' .. queue .. '-work', jid))
      hold = hold or need('throttle/hold')
      hold(seconds, jid, queue, id, score and string.format('%.17g', -score) or '-inf', limit)
      return false
    end
    gate.take(jid, ids)
    return true
  end
end
elseif name == 'job/extension' then
return function(jid)
  return redis.call('hmget', 'ql:j:' .. jid, 'key', 'dup', 'hold', 'rescore', 'backoff', 'fence')
end
elseif name == 'option/of_queues' then
return function(jobs)
  local defaults, names, fields = {}, {}, {}
  for i = 1, #jobs do
    local queue = jobs[i].queue
    if defaults[queue] == nil then
      defaults[queue], names[#names + 1] = false, queue
      fields[#fields + 1] = queue .. '-defaults'
    end
  end
  local stored = fields[1] and redis.pcall('hmget', 'ql:config', unpack(fields)) or {}
  for i = 1, #names do defaults[names[i]] = stored[i] or false end
  return defaults
end
elseif name == 'queue/decider' then
return function(now, t, seconds, queue, defaults, limit, slice)
  local call, base = redis.call, 'ql:q:' .. queue
  local gate = need('throttle/gate')(now, t, seconds, queue)
  local d = defaults and need('option/defaults')(defaults)
  local admit = need('queue/admit')(now, t, seconds, queue, d, gate, limit)
  local decider, checked = {wake = gate.wake}, false
  function decider.judge_lost(jids, jobs, i)
    local jid, job = jids[i], jobs[i]
    if admit(jid, job, true) then return end
    table.remove(jids, i)
    table.remove(jobs, i)
    call('zrem', base .. '-locks', jid)
    call('hmset', 'ql:j:' .. jid, 'worker', '', 'expires', '0', 'remaining', job[7] or '0')
    if job[15] then call('hdel', 'ql:j:' .. jid, 'grace') end
    gate.release(jid, need('job/tags')(job[13]))
  end
  function decider.recheck()
    if checked then return false end
    checked = true
    return need('throttle/recheck')(now, queue, gate) > 0
  end
  function decider.scan(rest, taken, page, from, at, job, jids, jobs, count, held, due)
    local read, decide, seen, passed, most = need('job/read'), need('queue/pop_decision'), nil, 0, nil
    local function limit_scan()
      most = most or math.min(need('value/number')(redis.pcall('hget', 'ql:config', 'max-pop-scan')) or 1000, 5000)
    end
    local function begin()
      seen = {}
      for i = 1, count do seen[jids[i]] = true end
    end
    begin()
    local step, drop, missed = 1, {}, 0
    from = from + at - 1
    local function leave_set()
      if drop[1] then need('value/in_chunks')('zrem', base .. '-work', drop, 1, #drop) end
      from, drop = from - #drop, {}
    end
    gate.before_heal = leave_set
    while true do
      for i = at, #page, step do
        if rest > 0 and count - taken >= rest or most and passed >= most then break end
        local jid = page[i]
        from = from + 1
        if not seen[jid] then
          seen[jid] = true
          job = job or read(jid)
          local what = decide(queue, t, jid, job)
          if what == 'take' and not admit(jid, job, false, step == 2 and page[i + 1]) then what = 'drop' end
          if what == 'take' then
            count = count + 1
            jids[count], jobs[count] = jid, job
          else
            missed, passed = missed + 1, passed + 1
            limit_scan()
          end
          if what == 'drop' then drop[#drop + 1] = jid end
          job = nil
        end
      end
      leave_set()
      if rest < 0 or decider.single or count - taken >= rest or most and passed >= most then return count end
      if missed == 0 or not page[1] then
        local returned, brought, apart = held and decider.recheck(), 0, 0
        if due then
          limit_scan()
          due, brought, apart = need('queue/due')(now, t, queue, math.max(rest - count + taken, 20), slice,
            count > taken)
        end
        if not returned and not gate.healed and brought == 0 then return count end
        passed = passed + apart
        gate.healed, from = nil, 0
        begin()
      end
      local want = math.max(rest - count + taken, 20)
      page, at, step, missed = call('zrevrange', base .. '-work', from, from + want - 1, 'WITHSCORES'), 1, 2, 0
      if page[1] then missed = 1 end
    end
  end
  return decider
end
elseif name == 'queue/fence' then
return function(key, job, stamp, worker, expires)
  local fence, ext = redis.pcall('incr', 'ql:fence'), job.ext
  if type(fence) == 'number' then ext[6] = string.format('%.0f', fence) end
  redis.call('hmset', key, 'time', stamp, 'worker', worker, 'expires', expires, 'state', 'running',
    'remaining', job[7] or '0', 'fence', ext[6] or '0')
end
elseif name == 'recurring/put_child' then
return function(queue, id, r, tags)
  local call, run = redis.call, need('put', true)
  local function finite(text)
    local n = need('value/number')(text)
    return n and string.format('%.17g', n) or '0'
  end
  local rest = {'priority', finite(r[4]), 'retries', finite(r[6])}
  if tags[1] then rest[5], rest[6] = 'tags', cjson.encode(tags) end
  local ok, opts = pcall(cjson.decode, r[10] or '{}')
  for name, value in pairs(ok and type(opts) == 'table' and opts or {}) do
    rest[#rest + 1], rest[#rest + 2] = name, tostring(value)
  end
  return function(at, number)
    local jid = id .. '-' .. number
    while call('exists', 'ql:j:' .. jid) == 1 do
      number = number + 1
      jid = id .. '-' .. number
    end
    local t, seconds = string.format('%.17g', at), string.format('%.0f', math.floor(at))
    local words = {'put', t, '', queue, jid, r[2], r[3], '0', unpack(rest)}
    local fine, took = pcall(run, words, at, t, seconds)
    if not fine or took ~= jid then return number, false end
    call('hset', 'ql:j:' .. jid, 'spawned_from_jid', id)
    return number, true
  end
end
elseif name == 'recurring/opts' then
return function(text)
  local ok, opts = pcall(cjson.decode, text)
  return ok and type(opts) == 'table' and opts or nil
end
elseif name == 'history/last_queue' then
return function(jid)
  local history = redis.pcall('lrange', 'ql:j:' .. jid .. '-history', 0, -1)
  if history.err then return nil end
  for i = #history, 1, -1 do
    if string.find(history[i], '"put"', 1, true) then
      local ok, entry = pcall(cjson.decode, history[i])
      if ok and type(entry) == 'table' and entry[2] == 'put' and type(entry[3]) == 'table'
        and type(entry[3].q) == 'string' then
        return entry[3].q
      end
    end
  end
end
elseif name == 'job/leave' then
return function(now, jid, state, queue, throttles)
  local call, dependencies = redis.call, 'ql:j:' .. jid .. '-dependencies'
  local names = call('smembers', dependencies)
  need('queue/remove_from_state_set')(jid, state, queue)
  if throttles then
    need('throttle/leave')(jid, state, queue, throttles)
    local ext = need('job/extension')(jid)
    if ext[1] and ext[3] == '1' then return end
    if ext[1] then need('lane/leave')(now, ext[1], jid) end
  end
  for i = 1, #names do call('srem', 'ql:j:' .. names[i] .. '-dependents', jid) end
  if names[1] then call('del', dependencies) end
end
elseif name == 'queue/pattern_list' then
return function(list)
  local count = 0
  if type(list) ~= 'table' then error('Patterns(): not a JSON array of patterns') end
  for at, pattern in pairs(list) do
    if type(at) ~= 'number' or type(pattern) ~= 'string' then error('Patterns(): not a JSON array of patterns') end
    count = count + 1
  end
  if count ~= #list then error('Patterns(): not a JSON array of patterns') end
  return list
end
elseif name == 'queue/back_off' then
return function(now, t, seconds, queue)
  local call = redis.call
  local settings = redis.pcall('hmget', 'ql:config', 'backoff-initial-delay', 'backoff-factor')
  local delay_of = need('option/lost_lock_delay')
  return function(jid, job, left)
    local delay = delay_of(job[17], job[6], left, settings[1], settings[2])
    if delay <= 0 then return false end
    local key, schedule = 'ql:j:' .. jid, 'ql:q:' .. queue .. '-scheduled'
    if type(redis.pcall('zadd', schedule, now + delay, jid)) ~= 'number' then return false end
    call('hmset', key, 'state', 'scheduled', 'worker', '', 'expires', '0', 'remaining', left, 'queue', queue)
    if job[15] then call('hdel', key, 'grace') end
    if job[13] then need('ending/extended')(now, t, seconds, jid, 'retry', queue, job[13]) end
    return true
  end
end
elseif name == 'queue/may_grant' then
return function(now, queue, jid, job, defaults)
  local d = defaults and need('option/defaults')(defaults)
  local lane = job[13] and redis.call('hget', 'ql:j:' .. jid, 'key')
  if lane and not need('lane/is_first')(lane, jid) then return false end
  local ids = need('option/throttles_at_pop')(d, queue, job) or need('job/tags')(job[13])
  return not ids[1] or need('throttle/would_run')(now, queue)(jid, ids)
end
elseif name == 'queue/subscribed' then
local least, per_second, most = 1000, 10000, 20000
local most_queues = 5000
return function(now, t, run)
  local call, index, state, names, listed, new = redis.call, run('hgetall', 'ql:subscriptions'), {}, {}, {}, {}
  for i = 1, #index, 2 do
    local name = string.match(index[i], '^q:(.*)$')
    if name then
      names[#names + 1], listed[name] = name, true
    else
      state[index[i]] = index[i + 1]
    end
  end
  local function find(name)
    if listed[name] then return end
    names[#names + 1], listed[name] = name, true
    new[#new + 1], new[#new + 2] = 'q:' .. name, '1'
  end
  local since, read, cursor = tonumber(state.since), tonumber(state.read) or 0, state.cursor or '0'
  if since and cursor == '0' and now >= since and now < since + 10 then return names, new end
  if not since then
    local queues = redis.pcall('zrange', 'ql:queues', 0, most_queues - 1)
    for i = 1, #queues do
      if call('exists', 'ql:topics' .. queues[i]) == 1 then find(queues[i]) end
    end
  end
  if cursor == '0' then new[#new + 1], new[#new + 2] = 'since', t end
  local count = math.floor(math.min(most, least + per_second * math.max(0, now - read)))
  local page = call('scan', cursor, 'MATCH', 'ql:topics' .. '*', 'COUNT', count)
  for _, key in ipairs(page[2]) do find(string.sub(key, #'ql:topics' + 1)) end
  local n = #new
  new[n + 1], new[n + 2], new[n + 3], new[n + 4] = 'read', t, 'cursor', page[1]
  return names, new
end
elseif name == 'option/empty_backoff' then
return function(given, o)
  if given.backoff ~= '[]' and given.backoff ~= '{}' then return false end
  o.fields, given.backoff = {'backoff', given.backoff}, nil
  return true
end
elseif name == 'option/lost_lock' then
return function(text)
  local ok, members = pcall(cjson.decode, text)
  if not ok or type(members) ~= 'table' then return nil end
  for name, value in pairs(members) do
    if name ~= 'initial_delay' and name ~= 'factor' then return nil end
    if type(value) ~= 'number' or value - value ~= 0 or value < 0 then return nil end
  end
  return members
end
elseif name == 'option/lost_lock_delay' then
return function(text, retries, left, initial_delay, factor)
  local number = need('value/number')
  local own = text and need('option/lost_lock')(text) or {}
  local first, base = own.initial_delay or number(initial_delay) or 0, own.factor or number(factor)
  if first <= 0 then return 0 end
  if not base or base < 0 then base = 3 end
  return math.min(first * base ^ (math.floor(number(retries) or 5) - left), need('value/longest_delay')())
end
elseif name == 'option/throttles_at_pop' then
return function(d, queue, job)
  if not d or not (d.lock or d.throttles) then return nil end
  if job[13] and job[13] ~= '[ ]' then return nil end
  return need('option/throttles')({}, false, d, queue, job[2], job[8])
end
elseif name == 'lane/is_first' then
return function(lane, jid)
  local key, live, from = 'ql:k:' .. lane, need('lane/live'), 0
  while true do
    local page = redis.pcall('zrange', key, from, from + 19)
    if page.err or not page[1] then return true end
    for i = 1, #page do
      if page[i] == jid then return true end
      if live(lane, page[i]) then return false end
    end
    from = from + #page
  end
end
elseif name == 'throttle/would_run' then
return function(now, queue)
  local pcall, free = redis.pcall, {}
  local grace = need('value/number')(pcall('hget', 'ql:config', 'grace-period')) or 10
  local judge = need('throttle/holder')
  local function is_free(id, jid)
    if free[id] == nil then
      local locks, most = 'ql:th:' .. id .. '-locks', need('throttle/maximum')(id)
      local held = most ~= 0 and pcall('zcard', locks)
      local count = type(held) == 'number' and most - held or math.huge
      for _, holder in ipairs(count <= 0 and pcall('zrange', locks, 0, 2) or {}) do
        if judge(now, id, holder, queue, grace) then count = count + 1 end
      end
      free[id] = count > 0
    end
    return free[id] or type(pcall('zscore', 'ql:th:' .. id .. '-locks', jid)) == 'string'
  end
  return function(jid, ids)
    for _, id in ipairs(ids) do
      if not is_free(id, jid) then return false end
    end
    return true
  end
end
elseif name == 'job/list_complete' then
return function(now, t, jid, queue, age, count)
  local call, number, key = redis.call, need('value/number'), 'ql:q:' .. queue .. '-completed'
  if type(redis.pcall('zadd', key, t, jid)) ~= 'number' then return end
  local old = call('zcount', key, '-inf', string.format('%.17g', now - (number(age) or 604800)))
  count = math.floor(number(count) or 50000)
  local excess = count < 0 and -count or call('zcard', key) - count
  local gone = math.min(1000, math.max(old, excess))
  if gone > 0 then need('value/in_chunks')('zrem', key, call('zrange', key, 0, gone - 1), 1, gone) end
end
elseif name == 'job/unlist_complete' then
return function(jid)
  local queues = redis.pcall('zrange', 'ql:queues', 0, -1)
  for i = 1, #queues do redis.pcall('zrem', 'ql:q:' .. queues[i] .. '-completed', jid) end
end
elseif name == 'value/without_blanks' then
return function(list)
  local texts = {}
  for i = 1, #list do
    if string.find(list[i], '%S') then texts[#texts + 1] = list[i] end
  end
  return texts
end
elseif name == 'value/without' then
return function(list, set)
  local left = {}
  for i = 1, #list do
    if not set[list[i]] then left[#left + 1] = list[i] end
  end
  return left
end
elseif name == 'value/longest_delay' then
return function()
  return 946080000
end
elseif name == 'dependency/release_dependent' then
return function(now, jid, name)
  local call, key = redis.call, 'ql:j:' .. name
  if call('srem', key .. '-dependencies', jid) == 1 and call('exists', key .. '-dependencies') == 0 then
    local job = call('hmget', key, 'state', 'queue', 'priority', 'scheduled')
    local queue = job[2]
    if job[1] == 'depends' and queue then
      need('dependency/release_job')(now, name, queue, job[3], job[4])
    end
  end
end
elseif name == 'dependency/release_rest' then
return function(now)
  local rest = redis.pcall('lrange', 'ql:releasing', 0, 9999)
  if not rest[1] then return end
  local release = need('dependency/release_dependent')
  for i = 1, #rest, 2 do pcall(release, now, rest[i], rest[i + 1]) end
  redis.call('ltrim', 'ql:releasing', #rest, -1)
end
elseif name == 'dependency/release_below' then
return function(now, jid, names, going, released)
  local call, unlink = redis.call, need('dependency/unlink')
  for i = 1, #names do
    local name = names[i]
    local key = 'ql:j:' .. name
    if not going[name] then
      unlink(name, {jid})
      if call('exists', key .. '-dependencies') == 0 then
        local queue, priority, due = unpack(call('hmget', key, 'queue', 'priority', 'scheduled'))
        need('dependency/release_job')(now, name, queue or '', priority, due)
        released[#released + 1] = name
      end
    end
  end
end
elseif name == 'job/few_tags' then
return function(area, count, before)
  if count > 1000 and count > (before or 0) then error(area .. '(): Arg "tags" has more than 1000 tags') end
end
elseif name == 'queue/promote_all' then
return function(now, t, queue, slice)
  local call, scheduled = redis.call, 'ql:q:' .. queue .. '-scheduled'
  if slice.due == 0 then return call('zcount', scheduled, 0, t) end
  local due = call('zrangebyscore', scheduled, 0, t, 'LIMIT', 0, slice.due)
  if not due[1] then return 0 end
  slice.due = slice.due - #due
  need('queue/promote')(now, queue, due)
  return slice.due == 0 and call('zcount', scheduled, 0, t) or 0
end
elseif name == 'queue/most' then
return function(t, queue, count)
  if count > 0 then return math.min(count, 10000) end
  local call, base = redis.call, 'ql:q:' .. queue
  local all = call('zcard', base .. '-work') + call('zcount', base .. '-locks', '-inf', t)
    + call('zcount', base .. '-scheduled', 0, t)
  return all > 10000 and 10000 or count
end
end
built = built or {}
if built[name] then return built[name](need) end
local path, text
if name == 'index/completed' then path, text = '@lua/check/index/completed.lua', [==[local need = ...

return function(c)
  return function(jid)
    local score, wrong = c.ask('zscore', 'ql:completed', jid)
    if wrong then return c.wrong_type('ql:completed', 'zset') end
    if not score then return end
    local what, j = c.read(jid, true)
    if what == 'type' then
      c.wrong_type('ql:j:' .. jid, 'hash')
    elseif what == 'gone' then
      c.add('completed-stray', jid, 'gone', {{'zset', 'ql:completed', jid, score, false}})
    elseif what == 'stub' then
      c.need('judge/stub')(select(2, c.read(jid)), what)
    elseif what == 'job' then
      c.need('judge/complete')(j)
    end
    if what ~= 'gone' and tonumber(score) > c.now + 3600 then c.add('clock', jid, 'completed at ' .. score) end
  end
end
]==]
elseif name == 'index/completed_in' then path, text = '@lua/check/index/completed_in.lua', [==[local need = ...

return function(c, queue)
  local key = 'ql:q:' .. queue .. '-completed'
  return function(jid)
    local score, wrong = c.ask('zscore', key, jid)
    if wrong then return c.wrong_type(key, 'zset') end
    if not score then return end
    local what, j = c.read(jid, true)
    if what == 'type' then return c.wrong_type('ql:j:' .. jid, 'hash') end
    if what == 'gone' or what == 'stub' or j.state and j.state ~= 'complete' then
      c.add('completed-in-queue', jid, queue, {{'zset', key, jid, score, false}})
    end
  end
end
]==]
elseif name == 'index/failed_times' then path, text = '@lua/check/index/failed_times.lua', [==[local need = ...


return function(c)
  local key, number = 'ql:failed-jobs-list', need('value/number')
  return function(jid)
    local score, wrong = c.ask('zscore', key, jid)
    if wrong then return c.wrong_type(key, 'zset') end
    if not score then return end
    local what, j = c.read(jid)
    if what == 'type' then return c.wrong_type('ql:j:' .. jid, 'hash') end
    if what == 'gone' or what == 'stub' then
      return c.add('failed-time-ghost', jid, '', {{'zset', key, jid, score, false}})
    elseif j.state ~= 'failed' then
      return c.add('failed-time', jid, 'is ' .. (j.state or 'in no state'), {{'zset', key, jid, score, false}})
    end
    local when = number(need('failure/decode')(j.failure).when)

    if when and when > tonumber(score) + 1 then
      c.add('failed-time', jid, 'failed again at ' .. c.score(when), {{'zset', key, jid, score, c.score(when)}})
    end
  end
end
]==]
elseif name == 'index/config' then path, text = '@lua/check/index/config.lua', [==[local need = ...

return function(c)

  local function ignored(option, value)
    if string.find(option, '%-defaults$') then
      local ok, members = pcall(cjson.decode, value)
      if not (ok and type(members) == 'table' and string.find(value, '^%s*{')) then
        return 'is ignored, is no JSON object'
      end
      local left = {}
      need('option/defaults')(value, left)
      table.sort(left)
      return left[1] and 'is ignored in part: ' .. table.concat(left, ', ', 1, math.min(#left, 8))
    end
    local natural = option == 'jobs-failed-history' or option == 'backoff-initial-delay' or option == 'backoff-factor'
    if not natural and option ~= 'merge-max' and option ~= 'max-pop-scan' then return nil end
    local n = need('value/number')(value)
    if not n then return 'is ignored, is no number' end
    return natural and n < 0 and 'is ignored, is below 0'
  end

  local numeric = {['heartbeat'] = true, ['grace-period'] = true, ['jobs-history'] = true,
    ['jobs-history-count'] = true, ['max-job-history'] = true, ['max-worker-age'] = true, ['stats-history'] = true,
    ['histogram-history'] = true}
  return function(option)
    local value, wrong = c.ask('hget', 'ql:config', option)
    if wrong then return c.wrong_type('ql:config', 'hash') end
    if not value then return end
    local why = ignored(option, value)
    if why then return c.add('config-value', option, why) end
    local most = string.find(option, '%-max%-concurrency$')
    if not numeric[option] and not most and not string.find(option, '%-heartbeat$') then return end
    local n = need('value/number')(value)
    if not n then
      local unread = option == 'stats-history' or option == 'histogram-history'
      c.add('config-value', option, unread and 'nobody reads it, is no number' or 'is no number')
    elseif n < 0 and (most or option == 'max-worker-age') then
      c.add('config-value', option, 'is below 0')
    end
  end
end
]==]
elseif name == 'index/day_counter' then path, text = '@lua/check/index/day_counter.lua', [==[local need = ...

return function(c)
  return function(j, when)
    local day = '' .. when - when % 86400
    local key = 'ql:s:stats:' .. day .. ':' .. j.queue
    local count, wrong = c.ask('hget', key, 'failed')
    if wrong then return c.wrong_type(key, 'hash') end
    if not count or (tonumber(count) or 0) <= 0 then
      c.need('index/failed_count')(key, day, j.queue)
    end
  end
end
]==]
elseif name == 'index/entries' then path, text = '@lua/check/index/entries.lua', [==[local need = ...





return function(c, group)
  local key, strays, misplaced = 'ql:f:' .. group, {}, {}
  local prefix = '{"group":' .. cjson.encode(group) .. ','

  local function judge(jid, index)
    c.cost = c.cost + 1
    local r = redis.pcall('hmget', 'ql:j:' .. jid, 'state', 'failure')
    local failure = not r.err and r[1] == 'failed' and r[2]
    if failure and string.sub(failure, 1, #prefix) == prefix then return end
    local what, j = c.read(jid)
    if what == 'gone' or what == 'job' and j.state ~= 'failed' then
      strays[#strays + 1] = {'list', key, '' .. index, jid, false}
      c.cost = c.cost + 4
    elseif what == 'type' then
      c.wrong_type('ql:j:' .. jid, 'hash')
    elseif what == 'job' and c.need('judge/failure')(j) ~= group then
      misplaced[#misplaced + 1] = jid
    end
  end


  local function remove(length)
    local word = strays[1] and c.outcome('failed-stray')
    if not word then return end
    local changes = {}
    for i = 1, #strays do changes[i] = strays[i] end
    local last = #strays == length and c.ask('sismember', 'ql:failures', group) == 1
    if last then changes[#changes + 1] = {'set', 'ql:failures', group, '1', false} end
    if c.repair and word == 'found' then
      word = c.write(changes) and 'mended' or word
    end
    for i = 1, #strays do
      local own = {strays[i]}
      if last and i == #strays then own[2] = changes[#changes] end
      c.report({'failed-stray', strays[i][4], word, group}, own)
    end
  end

  return function(starts)
    local length, wrong = c.ask('llen', key)
    if wrong then return c.wrong_type(key, 'list') end
    local before, judged = length, 0
    while judged < #starts and c.cost < 3000 do
      judged = judged + 1
      local start = tonumber(starts[judged])
      if not start or start < 0 or start % 1 ~= 0 then
        error('Check(): position is not a number: ' .. starts[judged])
      end
      local from, to = math.max(0, length - start - 50), math.min(before, length - start) - 1
      if from <= to then
        local page = redis.call('lrange', key, from, to)
        for k = #page, 1, -1 do judge(page[k], from + k - 1) end
        before = from
      end
    end
    remove(length)
    c.flush()
    if not c.refused then c.need('index/failures')(group) end
    return judged, misplaced
  end
end
]==]
elseif name == 'index/failed' then path, text = '@lua/check/index/failed.lua', [==[local need = ...

return function(c)
  return function(jid)
    local what, j = c.read(jid)
    if what == 'job' and j.state == 'failed' then c.need('judge/failed')(j) end
  end
end
]==]
elseif name == 'index/failed_count' then path, text = '@lua/check/index/failed_count.lua', [==[local need = ...



return function(c)
  local counts, made, number = nil, nil, need('value/number')


  local function moment(text)
    local when, rest = string.match(text or '', '"when":(%d+)[,}]()')
    if when and not string.find(text, '"when"', rest, true) then return tonumber(when) end
    return number(need('failure/decode')(text).when)
  end


  local function count()
    local all, total, seen = {}, 0, {}
    local groups, more = c.need('index/failure_lists').groups()
    if more then return {beyond = true} end
    for i = 1, #groups do
      local length = c.ask('llen', 'ql:f:' .. groups[i])
      if not length then return {} end
      total = total + length
    end
    if not groups[1] and c.ask('scard', 'ql:failures') == nil then return {} end
    if total > 2000 then return {beyond = true} end
    local odd = {}
    for i = 1, #groups do
      local jids = c.ask('lrange', 'ql:f:' .. groups[i], 0, -1) or {}
      for k = 1, #jids do
        local job = not seen[jids[k]] and c.ask('hmget', 'ql:j:' .. jids[k], 'state', 'queue', 'failure')
        seen[jids[k]] = true
        if job and job[1] == 'failed' and job[2] then
          local when = moment(job[3])
          if when then
            local day = when - when % 86400 .. ':' .. job[2]
            all[day] = (all[day] or 0) + 1
          else
            odd[job[2]] = true
          end
        end
      end
    end
    return {all = all, odd = odd}
  end

  return function(key, day, queue)
    if not c.outcome('failed-counter') then return end
    local stored, wrong = c.ask('hget', key, 'failed')
    if wrong then return end

    if made ~= c.relisted then counts, made = count(), c.relisted end
    local item = string.sub(key, #'ql:' + 1)
    if counts.beyond then return c.add('not-judged', item, 'more than 2000 failed jobs') end

    if not counts.all then return end
    if counts.odd[queue] then return c.add('not-judged', item, 'a failure that can not be read') end
    local real = counts.all[day .. ':' .. queue] or 0
    if (stored or '0') ~= '' .. real then
      c.add('failed-counter', item, (stored or 'none') .. ', is ' .. real,
        {{'hash', key, 'failed', stored, '' .. real}})
    end
  end
end
]==]
elseif name == 'index/failure_lists' then path, text = '@lua/check/index/failure_lists.lua', [==[local need = ...

return function(c)
  local lists = {}




  function lists.find(group, jid, most)
    most = most or 100000
    local key = 'ql:f:' .. group
    local length, wrong = c.ask('llen', key)
    if wrong then
      c.wrong_type(key, 'list')
      return nil
    end
    local places = {}
    if length == 0 then return places, 0, false end

    c.cost = c.cost + math.min(length, most) / 70
    local reply = lists.paged and {} or redis.pcall('lpos', key, jid, 'COUNT', 0, 'MAXLEN', most)
    if reply.err then lists.paged = true end
    if lists.paged then
      for from = 0, math.min(length, most) - 1, 1000 do
        local page = redis.call('lrange', key, from, math.min(from + 999, most - 1))
        for i = 1, #page do
          if page[i] == jid then places[#places + 1] = from + i - 1 end
        end
      end
    else
      places = reply
    end
    return places, length, length > most
  end



  local window
  function lists.near(group, jid)
    local gone = window and c.repair and c.relisted - window.relisted or 0

    if gone > 0 and gone ~= window.planned then window = nil end
    local place = window and window.group == group and window.places[jid]
    if not place then
      local places, length, beyond = lists.find(group, jid)
      window = nil
      if not places or #places ~= 1 then return places, length, beyond end
      place = places[1]
      local from, held = math.max(0, place - 200), {}
      local page = redis.call('lrange', 'ql:f:' .. group, from, place + 200)
      for i = 1, #page do held[page[i]] = held[page[i]] == nil and from + i - 1 end
      window = {group = group, places = held, length = length, relisted = c.relisted, planned = 0, taken = {}}
      gone = 0
    end
    local before = 0
    if gone > 0 then
      for i = 1, #window.taken do
        if window.taken[i] < place then before = before + 1 end
      end
    end
    window.planned = window.planned + 1
    window.taken[#window.taken + 1] = place
    return {place - before}, window.length - gone, false
  end


  function lists.drop(changes, group, jid, places, length)
    local key = 'ql:f:' .. group
    for i = #places, 1, -1 do changes[#changes + 1] = {'list', key, '' .. places[i], jid, false} end
    if #places == length and length > 0 and c.ask('sismember', 'ql:failures', group) == 1 then
      changes[#changes + 1] = {'set', 'ql:failures', group, '1', false}
    end
  end


  function lists.groups()
    local count, wrong = c.ask('scard', 'ql:failures')
    if wrong then return {}, false end
    if count <= 500 then return redis.call('smembers', 'ql:failures'), false end
    return {}, true
  end


  function lists.remove_everywhere(changes, jid)
    local groups, left = lists.groups(), 100000
    for i = 1, #groups do
      local places, length
      if left > 0 then places, length = lists.find(groups[i], jid) end
      left = left - (length or 0)
      if places and places[1] then lists.drop(changes, groups[i], jid, places, length) end
    end
  end
  return lists
end
]==]
elseif name == 'index/failures' then path, text = '@lua/check/index/failures.lua', [==[local need = ...

return function(c)
  local asked = {}



  local function lasts(group, key, length)
    local jids = redis.call('lrange', key, 0, 99)
    for i = 1, #jids do
      local what, j = c.read(jids[i])
      if what == 'odd' or what == 'type'
        or what == 'job' and j.state == 'failed' and (c.need('judge/failure')(j) or group) == group then
        return true
      end
    end
    return length > #jids
  end

  return function(group)
    if asked[group] then return end
    asked[group] = true
    local key = 'ql:f:' .. group
    local known, wrong = c.ask('sismember', 'ql:failures', group)
    if wrong then return c.wrong_type('ql:failures', 'set') end
    local length
    length, wrong = c.ask('llen', key)
    if wrong then
      c.wrong_type(key, 'list')
    elseif known == 1 and length == 0 then
      c.add('group-set', group, 'empty', {{'set', 'ql:failures', group, '1', false}})
    elseif known == 0 and length > 0 and lasts(group, key, length) then
      c.add('group-set', group, 'unlisted', {{'set', 'ql:failures', group, false, '1'}})
    end
  end
end
]==]
elseif name == 'index/group' then path, text = '@lua/check/index/group.lua', [==[local need = ...

return function(c, group)
  local lists = c.need('index/failure_lists')
  return function(jid)
    local what, j = c.read(jid)
    if what == 'gone' or what == 'job' and j.state ~= 'failed' then
      local places, length = lists.near(group, jid)
      if not places or not places[1] then return end
      local changes = {}
      lists.drop(changes, group, jid, places, length)
      c.add('failed-stray', jid, group, changes)
    else
      local places = lists.find(group, jid)
      if not places or not places[1] then return end
      if what == 'type' then
        c.wrong_type('ql:j:' .. jid, 'hash')
      elseif what == 'job' then
        c.need('judge/failed')(j, group)
      end
    end
    c.need('index/failures')(group)
  end
end
]==]
elseif name == 'index/lane' then path, text = '@lua/check/index/lane.lua', [==[local need = ...

return function(c, lane)
  local key, lanes = 'ql:k:' .. lane, c.need('repair/lane')
  return function(jid)
    local rank, wrong = c.ask('zrank', key, jid)
    if wrong then return c.wrong_type(key, 'zset') end
    if not rank then return end
    local what, j, why = lanes.entry(lane, jid)
    if what == 'live' then
      c.need('judge/lane')(j, rank)
    elseif what == 'dead' then
      local changes, word = c.need('repair/lane_leave')(lane, jid, rank)
      c.add('lane-stray', jid, lane, changes, word)
    elseif why == 'type' then
      c.wrong_type('ql:j:' .. jid, 'hash')
    end
  end
end
]==]
elseif name == 'index/member' then path, text = '@lua/check/index/member.lua', [==[local need = ...



return function(c, queue, kind)
  local base, ask = 'ql:q:' .. queue, redis.pcall
  local part = '-' .. kind
  local key = base .. part
  local ghost = 'ghost-' .. (kind == 'work' and 'waiting' or kind == 'locks' and 'lock' or kind)
  local homes = {waiting = '-work', stalled = '-work', running = '-locks', scheduled = '-scheduled',
    depends = '-depends', throttled = '-throttled'}
  local parts, others = {'-work', '-locks', '-scheduled', '-depends'}, {}
  for i = 1, 4 do
    if parts[i] ~= part then others[#others + 1] = base .. parts[i] end
  end


  local function belongs(jid)
    local r = ask('hmget', 'ql:j:' .. jid, 'jid', 'state', 'queue', 'throttles')
    if r.err or r[1] ~= jid or homes[r[2]] ~= part or r[3] ~= queue then return false end
    for i = 1, #others do
      if ask('zscore', others[i], jid) then return false end
    end

    return kind == 'throttled' or not r[4] or not ask('zscore', base .. '-throttled', jid)
  end

  return function(jid)
    local score, wrong = c.ask('zscore', key, jid)
    if wrong then return c.wrong_type(key, 'zset') end
    if not score then return end
    if redis.call('exists', 'ql:j:' .. jid) == 0 then
      return c.add(ghost, jid, queue, {{'zset', key, jid, score, false}})
    end
    if belongs(jid) then
      if kind == 'scheduled' then c.need('judge/never_due')({id = jid, scores = {[part] = score}}) end
      return c.need('index/queue_listed')(queue)
    end
    local what, j = c.read(jid)
    if what == 'type' then
      c.wrong_type('ql:j:' .. jid, 'hash')
    elseif what == 'stub' then
      c.need('judge/stub')(j, what, queue)
    elseif what == 'job' then
      c.need('judge/sets')(j, queue)
      if j.queue == queue then

        if kind == 'work' or kind == 'scheduled' then c.need('judge/leftovers')(j) end
        c.need('index/queue_listed')(queue)
      end
    end
  end
end
]==]
elseif name == 'index/paused_queues' then path, text = '@lua/check/index/paused_queues.lua', [==[local need = ...

return function(c)
  return function(queue)
    local paused, wrong = c.ask('sismember', 'ql:paused_queues', queue)
    if wrong then return c.wrong_type('ql:paused_queues', 'set') end
    local base = 'ql:q:' .. queue
    if paused == 1 and not c.ask('zscore', 'ql:queues', queue)
      and redis.call('exists', base .. '-work', base .. '-locks', base .. '-scheduled', base .. '-depends',
        base .. '-recur', base .. '-throttled') == 0 then
      c.add('queue-empty', queue, 'paused, nothing in it')
    end
  end
end
]==]
elseif name == 'index/pending' then path, text = '@lua/check/index/pending.lua', [==[local need = ...

return function(c, id)
  local key, held = 'ql:th:' .. id .. '-pending', c.need('repair/held')
  return function(jid)
    local value, wrong = c.ask('zscore', key, jid)
    if wrong then return held.wrong_type(key) end
    if not value then return end
    local what, j = c.read(jid)
    if what == 'type' then return c.wrong_type('ql:j:' .. jid, 'hash') end
    if what == 'odd' or what == 'job' and j.state == 'throttled' and held.carries(j, id) then return end
    c.add('pending-stray', jid, id, {{'zset', key, jid, value, false}})
  end
end
]==]
elseif name == 'index/queue_listed' then path, text = '@lua/check/index/queue_listed.lua', [==[local need = ...

return function(c)
  local asked = {}
  return function(queue)
    if asked[queue] then return end
    asked[queue] = true
    local score, wrong = c.ask('zscore', 'ql:queues', queue)
    if wrong then
      c.wrong_type('ql:queues', 'zset')
    elseif not score then
      c.add('queue-unlisted', queue, '', {{'zset', 'ql:queues', queue, false, c.score(c.now)}})
    end
  end
end
]==]
elseif name == 'index/queues' then path, text = '@lua/check/index/queues.lua', [==[local need = ...


return function(c)

  local function has_paused(queue)
    if not c.paused_queues then
      c.paused_queues = {}
      local stored = redis.pcall('hgetall', 'ql:paused_recurring')
      for i = 1, stored.err and 0 or #stored, 2 do
        local document = need('recurring/paused')(stored[i])
        if document and document.named.queue then c.paused_queues[document.named.queue] = true end
      end
    end
    return c.paused_queues[queue]
  end

  return function(queue)
    local score, wrong = c.ask('zscore', 'ql:queues', queue)
    if wrong then return c.wrong_type('ql:queues', 'zset') end
    local base = 'ql:q:' .. queue
    local used = redis.call('exists', base .. '-work', base .. '-locks', base .. '-scheduled',
      base .. '-depends', base .. '-recur', base .. '-throttled') > 0
    if score and not used and not has_paused(queue) then c.add('queue-empty', queue, 'nothing in it') end
    if used then c.need('index/queue_listed')(queue) end
    if score and tonumber(score) > c.now + 3600 then c.add('clock', queue, 'first seen at ' .. score) end
    if not used then return end
    if c.ask('sismember', 'ql:paused_queues', queue) ~= 1 then
      local old = string.format('%.17g', c.now - 86400)
      for _, part in ipairs({'-locks', '-scheduled', '-recur'}) do

        local from = part == '-scheduled' and '0' or '-inf'
        local first = c.ask('zrangebyscore', base .. part, from, old, 'WITHSCORES', 'LIMIT', 0, 1)
        if first and first[1] then
          c.add('queue-stuck', queue, string.sub(part, 2) .. ' since ' .. first[2])
          break
        end
      end
    end
    local limit = need('value/number')(c.ask('hget', 'ql:config', queue .. '-max-concurrency'))
    if limit and limit >= 1 then
      local held = c.ask('zcount', base .. '-locks', string.format('(%.17g', c.now), '+inf')
      if held and held > math.floor(limit) then
        c.add('over-limit', queue, held .. ' of ' .. string.format('%.0f', math.floor(limit)))
      end
    end
  end
end
]==]
elseif name == 'index/recur' then path, text = '@lua/check/index/recur.lua', [==[local need = ...

return function(c, queue)
  local key = 'ql:q:' .. queue .. '-recur'
  return function(id)
    local score, wrong = c.ask('zscore', key, id)
    if wrong then return c.wrong_type(key, 'zset') end
    if not score then return end
    if redis.call('exists', 'ql:r:' .. id) == 0 then
      c.add('ghost-recurring', id, queue, {{'zset', key, id, score, false}})
    else
      c.need('judge/recurring')(id, queue)
    end
  end
end
]==]
elseif name == 'index/slots' then path, text = '@lua/check/index/slots.lua', [==[local need = ...

return function(c, id)
  local key, held = 'ql:th:' .. id .. '-locks', c.need('repair/held')
  return function(jid)
    local taken, wrong = c.ask('zscore', key, jid)
    if wrong then return held.wrong_type(key) end
    if not taken then return end
    local what, j = c.read(jid)
    if what == 'type' then return c.wrong_type('ql:j:' .. jid, 'hash') end
    if what == 'odd' or what == 'job' and j.state == 'running' and held.carries(j, id) then return end
    c.add('slot-stray', jid, id, {{'zset', key, jid, taken, false}})
  end
end
]==]
elseif name == 'index/tag' then path, text = '@lua/check/index/tag.lua', [==[local need = ...

return function(c, tag)
  local key = 'ql:t:' .. tag


  local function misses(text)
    local tags = c.need('judge/tag_list')(text)
    for i = 1, #(tags or {}) do
      if tags[i] == tag then return false end
    end
    return tags ~= nil
  end

  return function(jid)
    local score, wrong = c.ask('zscore', key, jid)
    if wrong then return c.wrong_type(key, 'zset') end
    if not score then return end
    local text
    text, wrong = c.ask('hget', 'ql:j:' .. jid, 'tags')
    if not wrong and text and not misses(text) then return end
    local what, j = c.read(jid)
    local stray = what == 'gone' or what == 'job' and misses(j.tags)
    if stray then
      local changes = {{'zset', key, jid, score, false}}
      c.need('index/tag_counter')(changes, tag, -1)
      c.add('tag-index', jid, tag, changes)
    end
  end
end
]==]
elseif name == 'index/tag_counter' then path, text = '@lua/check/index/tag_counter.lua', [==[local need = ...


return function(c)
  return function(changes, tag, by)
    local count, score = c.ask('zcard', 'ql:t:' .. tag), c.ask('zscore', 'ql:tags', tag)
    if not count or score == nil or (tonumber(score or 0)) ~= count then return end
    changes[#changes + 1] = {'zset', 'ql:tags', tag, score, count + by > 0 and '' .. count + by}
  end
end
]==]
elseif name == 'index/tags' then path, text = '@lua/check/index/tags.lua', [==[local need = ...

return function(c)
  return function(tag)
    local score, wrong = c.ask('zscore', 'ql:tags', tag)
    if wrong then return c.wrong_type('ql:tags', 'zset') end
    local key = 'ql:t:' .. tag
    local count
    count, wrong = c.ask('zcard', key)
    if wrong then return c.wrong_type(key, 'zset') end
    if tonumber(score or 0) ~= count or score and count == 0 then
      c.add('tag-count', tag, (score or 'none') .. ', is ' .. count,
        {{'zset', 'ql:tags', tag, score, count > 0 and '' .. count}})
    end
  end
end
]==]
elseif name == 'index/tracked' then path, text = '@lua/check/index/tracked.lua', [==[local need = ...

return function(c)
  return function(jid)
    local score, wrong = c.ask('zscore', 'ql:tracked', jid)
    if wrong then return c.wrong_type('ql:tracked', 'zset') end
    if score and redis.call('exists', 'ql:j:' .. jid) == 0 then
      c.add('tracked-gone', jid, '', {{'zset', 'ql:tracked', jid, score, false}})
    end
  end
end
]==]
elseif name == 'index/unlisted' then path, text = '@lua/check/index/unlisted.lua', [==[local need = ...


return function(c, group)
  local mark_of = need('job/mark')
  return function(jid, mark)
    local what, j = c.read(jid)
    if what ~= 'job' or j.state ~= 'failed' then return end
    local now = mark_of(jid, j.state, j.queue)
    if now == mark then c.need('judge/failed')(j, nil, group) end
  end
end
]==]
elseif name == 'index/worker' then path, text = '@lua/check/index/worker.lua', [==[local need = ...

return function(c, worker)
  local key = 'ql:w:' .. worker .. ':jobs'
  return function(jid)
    local score, wrong = c.ask('zscore', key, jid)
    if wrong then return c.wrong_type(key, 'zset') end
    if not score then return end
    local what, j = c.read(jid)
    if what == 'gone' or what == 'stub'
      or what == 'job' and (j.worker or '') ~= worker
      or what == 'job' and j.state ~= 'running' and j.state ~= 'stalled' then
      c.add('worker-stray', jid, worker, {{'zset', key, jid, score, false}})
    elseif what == 'job' and j.state == 'running' then
      c.need('judge/running')(j)
    end
  end
end
]==]
elseif name == 'index/workers' then path, text = '@lua/check/index/workers.lua', [==[local need = ...

return function(c)
  return function(worker)
    local score, wrong = c.ask('zscore', 'ql:workers', worker)
    if wrong then return c.wrong_type('ql:workers', 'zset') end
    local key = 'ql:w:' .. worker .. ':jobs'
    local held
    held, wrong = c.ask('zcard', key)
    if wrong then c.wrong_type(key, 'zset') end
    if score and tonumber(score) > c.now + 3600 then c.add('clock', worker, 'seen at ' .. score) end
    if not score and held and held > 0 then c.add('worker-unknown', worker, '') end
  end
end
]==]
elseif name == 'judge/child' then path, text = '@lua/check/judge/child.lua', [==[local need = ...

return function(c)
  return function(j)
    if not j.spawned then return end
    local from = #j.spawned + 1
    if string.sub(j.id, 1, from) ~= j.spawned .. '-' then return end
    local n = string.match(string.sub(j.id, from + 1), '^[1-9]%d*$')
    if n and #n <= 15 then c.need('judge/template_count')(j.spawned, tonumber(n)) end
  end
end
]==]
elseif name == 'judge/complete' then path, text = '@lua/check/judge/complete.lua', [==[local need = ...

return function(c)
  return function(j)
    local score, wrong = c.ask('zscore', 'ql:completed', j.id)
    if wrong then
      c.wrong_type('ql:completed', 'zset')
    elseif j.state == 'complete' and j.queue ~= '' then
      c.add('completed-stray', j.id, 'complete in queue ' .. j.queue, {}, 'queue')
    elseif j.state == 'complete' then
      local time = need('value/number')(j.time)
      if not score and time and time > c.now + 3600 then

        c.add('completed-unlisted', j.id, '', {}, 'ahead')
      elseif not score then
        c.add('completed-unlisted', j.id, '', {{'zset', 'ql:completed', j.id, false, c.score(time or c.now)}})
      end
    elseif score then
      c.add('completed-stray', j.id, j.state, {{'zset', 'ql:completed', j.id, score, false}})
    end
  end
end
]==]
elseif name == 'judge/context' then path, text = '@lua/check/judge/context.lua', [==[local need = ...









local function chosen(findings)
  local known, only, out = need('repair/outcomes')(), false, {}
  for word in string.gmatch(findings .. ',', '([^,]*),') do
    local id = string.match(word, '^%-?([a-z%-]*)$')
    if not id or not string.find(known, "['" .. id .. "']", 1, true) then return nil, word end
    if string.byte(word) == 45 then
      out[id] = true
    else
      only = only or {}
      only[id] = true
    end
  end
  return out, only
end

return function(now, t, repair, run, findings)
  local out, only = {}, false
  if findings ~= '' then
    out, only = chosen(findings)
    if not out then return nil, only end
  end
  local built, number = {}, need('value/number')
  local states = {waiting = 1, running = 1, stalled = 1, scheduled = 1, depends = 1, throttled = 1, failed = 1,
    complete = 1}

  local c = {now = now, last_due = now + 31557600000, t = t, repair = repair, run = run, out = out, only = only,
    states = states, rows = {}, pending = {}, relisted = 0, cost = 0, wrote = false, refused = false}
  setmetatable(c, {__index = function(_, name)
    local noting = name == 'outcome' or name == 'add' or name == 'flush' or name == 'wrong_type' or name == 'write'
      or name == 'report'
    need(noting and 'repair/record' or 'repair/plan')(c)
    return rawget(c, name)
  end})



  local function ask(...)
    c.cost = c.cost + 1
    local reply = redis.pcall(...)
    if type(reply) == 'table' and reply.err then
      if string.find(reply.err, 'WRONGTYPE', 1, true) then return nil, true end
      return redis.call(...)
    end
    return reply
  end
  c.ask = ask


  function c.need(name)
    local part = built[name]
    if not part then
      part = need(name)(c)
      built[name] = part
    end
    return part
  end




  function c.read(jid, brief)
    local key, r, wrong = 'ql:j:' .. jid, nil, nil
    if brief then
      r, wrong = ask('hmget', key, 'jid', 'state', 'queue', 'klass')
    else
      r, wrong = ask('hmget', key, 'jid', 'state', 'queue', 'klass', 'priority', 'tags', 'retries', 'remaining', 'worker', 'expires', 'time', 'failure', 'grace', 'scheduled', 'spawned_from_jid', 'key', 'throttles', 'dup', 'hold')
    end
    if wrong then return 'type' end
    local j = {
      id = jid,
      key = key,
      jid = r[1],
      state = r[2],
      queue = r[3],
      klass = r[4],
      priority = r[5],
      tags = r[6],
      retries = r[7],
      remaining = r[8],
      worker = r[9],
      expires = r[10],
      time = r[11],
      failure = r[12],
      grace = r[13],
      scheduled = r[14],
      spawned = r[15],
      lane = r[16],
      throttles = r[17],
      dup = r[18],
      hold = r[19],
    }
    if j.jid == jid and states[j.state] and j.queue then return 'job', j end
    if not j.jid and not j.klass then
      if not j.state and redis.call('exists', key) == 0 then return 'gone' end
      if not ask('hget', key, 'data') then return 'stub', j end
    end
    return 'odd', j
  end


  function c.fits_priority(j, score)
    local n, p = tonumber(score), number(j.priority) or 0

    if n == math.huge then return j.state == 'stalled' or j.state == 'waiting' and j.throttles end
    return (n > p - 1 or p - 1 == p and n == p) and n <= p + 1e-6 + math.abs(p) * 1e-12
  end
  return c
end
]==]
elseif name == 'judge/coordination' then path, text = '@lua/check/judge/coordination.lua', [==[local need = ...

return function(c)
  return function(j)

    if j.lane and not j.throttles and j.state ~= 'complete' then
      c.add('lane-unmarked', j.id, 'lane ' .. j.lane, {{'hash', j.key, 'throttles', false, '[ ]'}})
    end
    if j.lane then c.need('judge/lane')(j) end
    if j.throttles or j.state == 'throttled' then c.need('judge/slots')(j) end
    if j.dup == 'merge' and j.state ~= 'complete' then c.need('judge/payloads')(j) end
  end
end
]==]
elseif name == 'judge/cycle' then path, text = '@lua/check/judge/cycle.lua', [==[local need = ...

return function(c)
  return function(jids)
    local edges = {}
    for i = 1, #jids do
      local next_one = jids[i % #jids + 1]
      local state = c.ask('hget', 'ql:j:' .. jids[i], 'state')
      if state ~= 'depends' or c.ask('sismember', 'ql:j:' .. jids[i] .. '-dependencies', next_one) ~= 1 then
        return
      end
      edges[i] = jids[i]
    end
    if edges[1] then
      edges[#edges + 1] = edges[1]
      c.add('dependency-cycle', jids[1], table.concat(edges, ' needs ', 2))
    end
  end
end
]==]
elseif name == 'judge/dependencies' then path, text = '@lua/check/judge/dependencies.lua', [==[local need = ...

return function(c)
  local edges = c.need('judge/edge_sets')



  local function there(x)
    local what, j = c.read(x, true)
    if what == 'gone' or what == 'stub' then return 'missing' end
    if what ~= 'job' then return nil end
    return j.state == 'complete' and j.queue == '' and 'complete' or 'there', j
  end

  return function(y, one)
    local own = y.key .. '-dependencies'
    local list, count = edges.members(own)
    if not list then return end
    if count == 0 then

      if y.state == 'depends' and not one and not edges.rebuilt[y.id] and not c.need('repair/lane').held(y) then
        local changes = {}
        if not edges.locked(y) then edges.release(changes, y) end
        local word = not changes[1] and 'locked' or nil
        c.add('depends-on-nothing', y.id, word or '', changes, word)
      end
      return
    end
    if one then list = {one} end

    local keeps = y.state == 'failed' and y.hold == '1' and y.lane
    local left, sure, unsure, ids = count, {}, {}, {}
    for i = 1, #list do
      local x = list[i]
      local how, j = there(x)
      local below = 'ql:j:' .. x .. '-dependents'
      if x == y.id then
        c.add('dependency-cycle', y.id, x)
      elseif how == 'missing' or how == 'complete' then
        ids[x] = how == 'missing' and 'dependency-missing' or 'dependency-complete'
        local word = c.outcome(ids[x])
        if word == 'found' then
          left = left - 1
          sure[#sure + 1] = x
        elseif word then
          unsure[#unsure + 1] = x
        end
      elseif how then
        if y.state ~= 'depends' and not keeps then
          c.add('dependency-one-sided', y.id, x, edges.cut(y.id, x), 'idle')
        else
          local listed, wrong = c.ask('sismember', below, y.id)
          if wrong then
            c.wrong_type(below, 'set')
          elseif listed == 0 then
            c.add('dependency-one-sided', y.id, x, {{'set', below, y.id, false, '1'}})
          end
          if j.state == 'failed' and not keeps then c.add('depends-on-failed', y.id, x) end
        end
      end
    end

    local function drop(x, last)
      local changes, word = edges.cut(y.id, x), nil
      if last and y.state == 'depends' then
        if edges.locked(y) then
          changes, word = {}, 'locked'
        else
          edges.release(changes, y)
        end
      end
      c.add(ids[x], y.id, x, changes, word)
    end
    for i = 1, #unsure do drop(unsure[i], left == 1) end

    if sure[2] then need('value/sort')(sure) end
    for i = 1, #sure do drop(sure[i], left == 0 and i == #sure) end
  end
end
]==]
elseif name == 'judge/dependents' then path, text = '@lua/check/judge/dependents.lua', [==[local need = ...

return function(c)
  local edges = c.need('judge/edge_sets')

  return function(x, how)
    local own = 'ql:j:' .. x .. '-dependents'
    local list = edges.members(own)
    if not list then return end
    for i = 1, #list do
      local y = list[i]
      local what, j = c.read(y, true)

      local loose = how ~= 'missing'
      if what == 'gone' or what == 'stub' then
        if loose then c.add('dependency-one-sided', y, x, {{'set', own, y, '1', false}}) end
      elseif what == 'job' then
        local theirs = j.key .. '-dependencies'
        local named, wrong = c.ask('sismember', theirs, x)
        if wrong then
          c.wrong_type(theirs, 'set')
        elseif named == 1 then
          if how ~= 'there' then
            what, j = c.read(y)
            c.need('judge/dependencies')(j, x)
          end
        elseif how == 'there' and j.state == 'depends' and y ~= x
          and (edges.rebuilt[y] or c.ask('scard', theirs) == 0) then

          edges.rebuilt[y] = true
          c.add('dependency-one-sided', y, x, {{'set', theirs, x, false, '1'}})
        elseif how == 'missing' and j.state == 'depends' and c.ask('scard', theirs) == 0 then

          c.add('dependency-missing', y, x, {{'set', own, y, '1', false}})
        elseif how == 'there' and (j.state == 'depends' or j.state == 'failed') and need('lane/precedes')(x, y)
          and (j.state == 'depends' or c.ask('hget', j.key, 'hold') == '1') then

          c.add('dependency-one-sided', y, x, {{'set', theirs, x, false, '1'}})
        elseif loose then
          c.add('dependency-one-sided', y, x, {{'set', own, y, '1', false}})
        end
      end
    end
  end
end
]==]
elseif name == 'judge/edge_sets' then path, text = '@lua/check/judge/edge_sets.lua', [==[local need = ...

return function(c)
  local edges, number = {rebuilt = {}}, need('value/number')


  function edges.members(key)
    local count, wrong = c.ask('scard', key)
    if wrong then
      c.wrong_type(key, 'set')
      return nil
    end
    if count <= 1000 then return count > 0 and redis.call('smembers', key) or {}, count end
    c.add('not-judged', string.sub(key, #'ql:' + 1), 'more than 1000 dependencies')
    local page = redis.pcall('sscan', key, 0, 'COUNT', 1000)
    return page[2] or {}, count
  end


  function edges.release(changes, j)
    local base = 'ql:q:' .. j.queue
    local function entry(part)
      return c.ask('zscore', base .. part, j.id) or j.enters and j.enters[part] or false
    end
    local waits, lock = entry('-depends'), entry('-locks')
    if waits then changes[#changes + 1] = {'zset', base .. '-depends', j.id, waits, false} end
    if lock then changes[#changes + 1] = {'zset', base .. '-locks', j.id, lock, false} end
    local due = number(j.scheduled)
    local into, out = due and '-scheduled' or '-work', due and '-work' or '-scheduled'
    local present, misplaced = entry(into), entry(out)
    if misplaced then changes[#changes + 1] = {'zset', base .. out, j.id, misplaced, false} end
    local score = due and c.score(due) or c.score((number(j.priority) or 0) - c.now / 10000000000)
    changes[#changes + 1] = {'zset', base .. into, j.id, present, score}
    changes[#changes + 1] = {'hash', j.key, 'state', j.state, due and 'scheduled' or 'waiting'}
    if j.scheduled then changes[#changes + 1] = {'hash', j.key, 'scheduled', j.scheduled, false} end
    c.list_queue(changes, j.queue)
  end



  function edges.locked(j)
    local function alive(key)
      local lock = c.ask('zscore', key, j.id)
      return lock and tonumber(lock) > c.now
    end
    if alive('ql:q:' .. j.queue .. '-locks') then return true end
    local sets = c.sets()
    for i = 1, #sets do
      if sets[i].part == '-locks' and alive(sets[i].key) then return true end
    end
    return false
  end


  function edges.cut(y, x)
    local changes, above, below = {}, 'ql:j:' .. y .. '-dependencies', 'ql:j:' .. x .. '-dependents'
    if c.ask('sismember', above, x) == 1 then changes[1] = {'set', above, x, '1', false} end
    if c.ask('sismember', below, y) == 1 then changes[#changes + 1] = {'set', below, y, '1', false} end
    return changes
  end
  return edges
end
]==]
elseif name == 'judge/edges' then path, text = '@lua/check/judge/edges.lua', [==[local need = ...

return function(c)
  local dependencies, dependents = c.need('judge/dependencies'), c.need('judge/dependents')
  return function(j)
    dependencies(j)
    dependents(j.id, j.state == 'complete' and j.queue == '' and 'complete' or 'there')
  end
end
]==]
elseif name == 'judge/failed' then path, text = '@lua/check/judge/failed.lua', [==[local need = ...


return function(c)
  local lists = c.need('index/failure_lists')


  local function searches()
    return c.outcome('failed-stray') or c.outcome('failed-unlisted') or c.outcome('failed-twice')
      or c.outcome('failed-counter')
  end

  return function(j, seen, absent)
    local group, when, restored = c.need('judge/failure')(j)
    local wrong = j.failure and 'failure' or 'no failure'
    if not when and group then
      local changes = {}
      if restored then
        changes[1] = {'hash', j.key, 'failure', j.failure, restored}
        if j.failure then
          changes[2] = {'hash', j.key, 'bad-failure', c.ask('hget', j.key, 'bad-failure'), j.failure}
        end
      end
      c.add('job-unreadable', j.id, wrong, changes)
    end

    if group and not searches() then return end
    if absent ~= group then absent = nil end
    local changes, places, beyond = {}, {}, false
    if group then

      local found, _, long = lists.find(group, j.id, absent and 1000)
      if not found then return end
      places, beyond = found, long and not absent
    end
    if places[2] then
      local first = table.remove(places, 1)
      lists.drop(changes, group, j.id, places, 0)
      table.insert(places, 1, first)
      c.add('failed-twice', j.id, group, changes)
    end
    if places[1] then
      if when then c.need('index/day_counter')(j, when) end
      if seen and seen ~= group then
        local others, total = lists.find(seen, j.id)
        if others and others[1] then
          changes = {}
          lists.drop(changes, seen, j.id, others, total)
          c.add('failed-twice', j.id, seen, changes)
        end
      end
      return
    end
    if beyond then return c.add('not-judged', j.id, 'failure list of more than 100000') end

    local groups, more = {}, false
    if not absent then groups, more = lists.groups() end
    if seen then table.insert(groups, 1, seen) end
    local elsewhere, done, left = nil, {}, 100000
    if group then done[group] = true end
    for i = 1, #groups do
      local other = groups[i]
      if not done[other] and left > 0 then
        done[other] = true
        local others, total, long = lists.find(other, j.id)
        if others and others[1] then
          elsewhere = elsewhere or other
          lists.drop(changes, other, j.id, others, total)
        end
        left = left - (total or 0)
        more = more or long
      end
    end
    more = more or left <= 0

    if not group then
      if not elsewhere and not more then wrong = wrong .. ', in no list' end
      return c.add('job-unreadable', j.id, wrong, {}, 'part')
    end
    if not elsewhere and more then return c.add('not-judged', j.id, 'too many failure lists') end
    changes[#changes + 1] = {'list', 'ql:f:' .. group, '0', false, j.id}
    if c.ask('sismember', 'ql:failures', group) == 0 then
      changes[#changes + 1] = {'set', 'ql:failures', group, false, '1'}
    end
    c.add(elsewhere and 'failed-stray' or 'failed-unlisted', j.id, elsewhere or group, changes)
  end
end
]==]
elseif name == 'judge/failure' then path, text = '@lua/check/judge/failure.lua', [==[local need = ...



return function(c)
  local number = need('value/number')


  local function newest_failure(j)
    local list = c.ask('lrange', j.key .. '-history', -100, -1) or {}
    for i = #list, 1, -1 do
      if string.find(list[i], '"failed"', 1, true) and #list[i] < 250000 then
        local ok, entry = pcall(cjson.decode, list[i])
        if ok and type(entry) == 'table' and entry[2] == 'failed' and type(entry[3]) == 'table'
          and type(entry[3].group) == 'string' and type(entry[1]) == 'number' and entry[1] - entry[1] == 0 then
          return entry[3].group, entry[1], type(entry[3].worker) == 'string' and entry[3].worker or ''
        end
      end
    end
  end

  return function(j)
    local failure = need('failure/decode')(j.failure)
    local group, when = failure.group, number(failure.when)
    if type(group) ~= 'string' then group = nil end
    if group and when then return group, when end
    local known, moment, worker = newest_failure(j)
    if not known then return group, nil, false end
    local message = failure.message
    if type(message) ~= 'string' then message = '' end
    return group or known, nil, need('failure/encode')(group or known, message, moment, worker)
  end
end
]==]
elseif name == 'judge/fields' then path, text = '@lua/check/judge/fields.lua', [==[local need = ...

return function(c)
  local number = need('value/number')


  local function indexed(j)
    local names, found = c.ask('zrange', 'ql:tags', 0, 999) or {}, {}
    need('value/sort')(names)
    for i = 1, #names do
      if c.ask('zscore', 'ql:t:' .. names[i], j.id) then found[#found + 1] = names[i] end
    end
    return found[1] and cjson.encode(found) or '{}'
  end


  local function newest(j)
    local list, moment = c.ask('lrange', j.key .. '-history', -100, -1) or {}, need('history/entry_time')
    for i = #list, 1, -1 do
      local when = #list[i] < 250000 and string.sub(list[i], 1, 14) ~= '[0,"unreadable' and moment(list[i])
      if when and tonumber(when) <= c.now + 3600 then return when end
    end
  end

  return function(j, what)
    local key = j.key

    local function amend(name, value, keep, more)
      local old = j[name]
      local changes = {{'hash', key, name, old, value}}
      if keep and old then
        changes[2] = {'hash', key, 'bad-' .. name, c.ask('hget', key, 'bad-' .. name), old}
      end
      if more then changes[#changes + 1] = more end
      c.add('job-unreadable', j.id, old and name or 'no ' .. name, changes)
    end
    local function report(name) c.add('job-unreadable', j.id, name, {}, 'part') end

    if not number(j.priority) then
      local place
      if what == 'job' and (j.state == 'waiting' or j.state == 'stalled') then
        local work = 'ql:q:' .. j.queue .. '-work'
        local score = c.ask('zscore', work, j.id)
        if score and not c.fits_priority(j, score) then place = {'zset', work, j.id, score, c.work_score(j)} end
      end
      amend('priority', '0', true, place)
    end
    local tags, long = c.need('judge/tag_list')(j.tags)
    if long then
      c.add('not-judged', 'j:' .. j.id, 'tags beyond 250000 bytes')
    elseif not tags then
      amend('tags', indexed(j), true)
    end
    if j.throttles and not c.need('judge/tag_list')(j.throttles) then amend('throttles', '[]', true) end
    if not j.remaining or not string.find(j.remaining, '^%-?%d+$') or #j.remaining > 19 then
      local tries = need('value/whole_tries')(number(j.remaining) or number(j.retries) or 0)
      amend('remaining', string.format('%.0f', tries))
    end
    if not j.worker then amend('worker', '') end

    if not j.expires and not (what == 'job' and j.state == 'running') then amend('expires', '0') end
    if not number(j.time) then
      local when = newest(j)
      local name = 'time'
      if when then amend(name, when) else report(j.time and name or 'no time') end
    end

    if j.state == 'depends' and j.scheduled then
      local due = tonumber(j.scheduled)
      if not due or due ~= due or string.find(j.scheduled, '%s') then amend('scheduled', false) end
    end
    if not number(j.retries) then report(j.retries and 'retries' or 'no retries') end
    if j.state and not c.states[j.state] then report('state') end
    local data = j.data
    if data then
      if #data > 250000 then
        c.add('not-judged', 'j:' .. j.id, 'data beyond 250000 bytes')
      elseif not pcall(cjson.decode, data) then
        report('data')
      end
    end
  end
end
]==]
elseif name == 'judge/healthy' then path, text = '@lua/check/judge/healthy.lua', [==[local need = ...




return function(c)
  local ask, number, find = redis.pcall, need('value/number'), string.find
  local horizon, latest, last_due = c.now + 8640000, c.now + 3600, c.last_due
  local homes = {waiting = '-work', stalled = '-work', running = '-locks', scheduled = '-scheduled',
    depends = '-depends', throttled = '-throttled'}
  local parts = {'-work', '-locks', '-scheduled', '-depends', '-throttled'}
  local reserved, listed, tag_list = need('job/reserved'), c.need('index/queue_listed'), c.need('judge/tag_list')
  local known = {}


  local function due(text)
    local n = number(text)
    return n and n >= 0 and n <= last_due and not find(text, '%s')
  end


  local function readable(j, time, data)
    local retries, remaining = number(j.retries), number(j.remaining)
    return number(j.priority) and time and time <= latest and j.klass and j.worker and j.expires and retries
      and remaining and remaining <= retries and (remaining >= 0 or j.state == 'failed')
      and find(j.remaining, '^%-?%d+$') and #j.remaining <= 19 and not j.grace
      and (not j.scheduled or j.state == 'depends' and due(j.scheduled))
      and (not j.throttles or tag_list(j.throttles))
      and data and (data == '{}' or #data <= 250000 and pcall(cjson.decode, data))
  end


  local function plain(key)
    local list = ask('lrange', key .. '-history', 0, 19)
    if list.err or list[20] then return false end
    for i = 1, #list do
      local entry = list[i]
      if #entry > 10000 or not (find(entry, '^%[[1-9]%d*,"[^"\\%c]*",{"%l+":"[^"\\%c]*"}%]$')
        or find(entry, '^%[[1-9]%d*,"[^"\\%c]*"%]$')
        or find(entry, '^%[[1-9]%d*,"[^"\\%c]*",{"%l+":"[^"\\%c]*","%l+":"[^"\\%c]*"}%]$')) then
        return false
      end
    end
    return true
  end



  local function placed(j)
    local home, base, held = homes[j.state], 'ql:q:' .. j.queue, nil
    for i = 1, (j.throttles or j.state == 'throttled') and 5 or 4 do
      local score = ask('zscore', base .. parts[i], j.id)
      if parts[i] == home then
        held = score
      elseif score then
        return false
      end
    end
    if not home then return true end
    if type(held) ~= 'string' then return false end
    if home == '-work' then return c.fits_priority(j, held) end
    if home == '-scheduled' then return due(held) end
    if home ~= '-locks' then return true end

    local expires, lock, worker = number(j.expires), tonumber(held), j.worker
    if not expires or worker == '' or expires > horizon or lock > horizon or math.abs(lock - expires) > 0.001 then
      return false
    end
    if known[worker] == nil then known[worker] = type(ask('zscore', 'ql:workers', worker)) == 'string' end
    held = known[worker] and ask('zscore', 'ql:w:' .. worker .. ':jobs', j.id)
    return type(held) == 'string' and math.abs(tonumber(held) - expires) <= 0.001
  end


  local function tagged(j)
    if not j.tags or #j.tags > 10000 then return false end
    local tags = tag_list(j.tags)
    if not tags then return false end
    for i = 1, #tags do
      if type(ask('zscore', 'ql:t:' .. tags[i], j.id)) ~= 'string' then return false end
    end
    return true
  end

  return function(jid)
    local key = 'ql:j:' .. jid
    local r = ask('hmget', key, 'jid', 'state', 'queue', 'klass', 'priority', 'tags', 'retries', 'remaining', 'worker', 'expires', 'time', 'failure', 'grace', 'scheduled', 'spawned_from_jid', 'key', 'throttles', 'dup', 'hold', 'data', 'history')
    if r.err or r[1] ~= jid or not c.states[r[2]] or not r[3] or r[21]
      or reserved(jid) then
      return false
    end
    local j = {
      id = jid,
      key = key,
      state = r[2],
      queue = r[3],
      klass = r[4],
      priority = r[5],
      tags = r[6],
      retries = r[7],
      remaining = r[8],
      worker = r[9],
      expires = r[10],
      time = r[11],
      failure = r[12],
      grace = r[13],
      scheduled = r[14],
      spawned = r[15],
      lane = r[16],
      throttles = r[17],
      dup = r[18],
      hold = r[19],
    }
    local state = j.state
    if not readable(j, number(j.time), r[20]) or not plain(key) then return false end
    if state == 'complete' then
      if j.queue ~= '' then return false end
    elseif not placed(j) then
      return false
    end
    local done = ask('zscore', 'ql:completed', jid)
    if type(done) == 'table' or (state == 'complete') ~= (done and true or false) or not tagged(j) then return false end
    local edges = ask('exists', key .. '-dependencies', key .. '-dependents')
    if type(edges) == 'table' then return false end

    if state == 'failed' then c.need('judge/failed')(j) end
    if edges > 0 or state == 'depends' then c.need('judge/edges')(j) end
    if j.spawned then c.need('judge/child')(j) end
    if j.lane or j.throttles or j.dup or state == 'throttled' then c.need('judge/coordination')(j) end
    if state ~= 'complete' then listed(j.queue) end
    return true
  end
end
]==]
elseif name == 'judge/history' then path, text = '@lua/check/judge/history.lua', [==[local need = ...



local function wrapped(entry)
  local at = string.match(entry, '^%s*%[[^"]*"()')
  if not at then return nil end
  repeat
    local found = string.find(entry, '[\\"]', at)
    if not found then return nil end
    local quote = string.byte(entry, found) == 34
    at = found + (quote and 1 or 2)
  until quote
  local from, item = string.match(entry, '^%s*,%s*()(.-)%s*%]%s*$', at)
  if not from then return nil end
  local text = string.sub(entry, 1, from - 1) .. '{"data":' .. item .. '}]'
  local ok, list = pcall(cjson.decode, text)
  if ok and type(list[3]) == 'table' and pcall(cjson.encode, list[3]) then return text end
end


local function better(entry)
  if string.find(entry, '^%[[1-9]%d*,"[^"\\%c]*"%]$') then return nil end
  if string.find(entry, '^%[[1-9]%d*,"[^"\\%c]*",{"%l+":"[^"\\%c]*"}%]$') then return nil end
  local ok, list = pcall(cjson.decode, entry)
  if ok and type(list) == 'table' and type(list[1]) == 'number' and list[1] - list[1] == 0
    and type(list[2]) == 'string' then
    local item, count = list[3], 0
    for _ in pairs(list) do count = count + 1 end
    if item == nil and count == 2 then return nil end
    if count > 3 then return false end
    local text = type(item) == 'table' and pcall(cjson.encode, item)

    if text and (item[1] == nil or string.find(entry, '}%s*%]%s*$')) then return nil end
    text = (type(item) ~= 'table' or item[1] ~= nil) and wrapped(entry)
    if text then return text end
  end
  return '[0,"unreadable",{"raw":' .. cjson.encode(entry) .. '}]'
end

return function(c)
  return function(j)
    local key = j.key .. '-history'
    local changes, odd, from, bytes = {}, false, 0, 0

    for _, to in ipairs({9, 99, 999}) do
      local list, wrong = c.ask('lrange', key, from, to)
      if wrong then return c.wrong_type(key, 'list') end
      for i = 1, #list do
        local entry = list[i]
        bytes = bytes + #entry
        if bytes <= 250000 then
          local text = better(entry)
          if text then changes[#changes + 1] = {'list', key, '' .. from + i - 1, entry, text} end
          odd = odd or text == false
        end
      end
      from = from + #list
      if from <= to or bytes > 250000 then break end
    end
    if changes[1] then c.add('job-unreadable', j.id, 'history', changes) end
    if odd then c.add('job-unreadable', j.id, 'history has entries of more than three elements', {}, 'part') end
    if bytes > 250000 then
      c.add('not-judged', 'j:' .. j.id .. '-history', 'entries beyond 250000 bytes')
    elseif from == 1000 and redis.call('llen', key) > 1000 then
      c.add('not-judged', 'j:' .. j.id .. '-history', 'more than 1000 entries')
    end
  end
end
]==]
elseif name == 'judge/job' then path, text = '@lua/check/judge/job.lua', [==[local need = ...

return function(c)
  local healthy = c.need('judge/healthy')
  return function(jid)
    if healthy(jid) then return end
    local what, j = c.read(jid)
    local reserved = need('job/reserved')(jid)
    if what == 'gone' or what == 'type' then

      if what == 'type' and not reserved then c.wrong_type('ql:j:' .. jid, 'hash') end
      return
    end
    if reserved and what ~= 'stub' then c.add('key-type', 'j:' .. jid, 'job id with a reserved ending', {}, 'job') end
    c.need('judge/stub')(j, what)
    if what == 'stub' then return end
    c.need('judge/fields')(j, what)
    c.need('judge/history')(j)
    c.need('judge/legacy_history')(j)
    if what == 'odd' then return end
    c.need('judge/sets')(j)
    if j.state == 'running' then c.need('judge/running')(j) end
    c.need('judge/complete')(j)
    if j.state == 'failed' then c.need('judge/failed')(j) end
    c.need('judge/edges')(j)
    c.need('judge/job_tags')(j)
    c.need('judge/child')(j)
    if j.state ~= 'complete' then c.need('index/queue_listed')(j.queue) end
    c.need('judge/leftovers')(j)
    c.need('judge/coordination')(j)
  end
end
]==]
elseif name == 'judge/job_tags' then path, text = '@lua/check/judge/job_tags.lua', [==[local need = ...

return function(c)
  return function(j)
    local tags = c.need('judge/tag_list')(j.tags)
    if not tags then return end
    for i = 1, math.min(#tags, 1000) do
      local key = 'ql:t:' .. tags[i]
      local score, wrong = c.ask('zscore', key, j.id)
      if wrong then
        c.wrong_type(key, 'zset')
      elseif not score then
        local changes = {{'zset', key, j.id, false, c.score(c.put_time(j))}}
        c.need('index/tag_counter')(changes, tags[i], 1)
        c.add('tag-index', j.id, tags[i], changes)
      end
    end
    if #tags > 1000 then c.add('not-judged', 'j:' .. j.id, 'more than 1000 tags') end
  end
end
]==]
elseif name == 'judge/lane' then path, text = '@lua/check/judge/lane.lua', [==[local need = ...

return function(c)
  local lanes = c.need('repair/lane')

  return function(j, rank)
    if not lanes.is_live(j, j.lane) then return end
    if not rank then
      local key, wrong = 'ql:k:' .. j.lane, nil
      rank, wrong = c.ask('zrank', key, j.id)
      if wrong then return c.wrong_type(key, 'zset') end
    end
    if not rank then
      local changes = lanes.join(j)
      return c.add('lane-unlisted', j.id, j.lane, changes, not changes and 'beside' or nil)
    end
    local before = lanes.before(j.lane, rank)
    if not before then return end

    if j.state ~= 'depends' and j.state ~= 'failed' then
      local changes = j.state ~= 'running' and lanes.block({}, j, before)
      return c.add('lane-order', j.id, before, changes or {}, not changes and 'beside' or nil)
    end

    if lanes.has_edge(j.id, before) then return end
    local changes = lanes.block({}, j, before)
    c.add('lane-edge', j.id, before, changes, not changes and 'beside' or nil)
  end
end
]==]
elseif name == 'judge/leftovers' then path, text = '@lua/check/judge/leftovers.lua', [==[local need = ...

return function(c)
  local number = need('value/number')
  return function(j)
    local base, state = 'ql:q:' .. j.queue, j.state
    local time, priority = number(j.time), number(j.priority)

    local ahead = time and time > c.now + 3600
    if ahead then c.add('clock', j.id, 'time is ' .. j.time) end

    if priority and (state == 'waiting' or state == 'stalled') then
      local score = j.scores and j.scores['-work']
      if score and not c.fits_priority(j, score) and not ahead then
        c.add('score', j.id, 'priority ' .. j.priority .. ', placed at ' .. score,
          {{'zset', base .. '-work', j.id, score, c.work_score(j)}})
      end
    end
    if j.grace then
      local lock = state == 'running' and c.ask('zscore', base .. '-locks', j.id)
      local expires = number(j.expires)
      if state ~= 'running' or lock and expires and tonumber(lock) <= expires + 0.001 then
        local changes = {{'hash', j.key, 'grace', j.grace, false}}
        if state == 'running' then c.need('judge/lock_agreement')(changes, j, c.score(expires), true) end
        c.add('field-leftover', j.id, 'grace', changes)
      end
    end
    if j.scheduled and state ~= 'depends' then
      c.add('field-leftover', j.id, 'scheduled', {{'hash', j.key, 'scheduled', j.scheduled, false}})
    end
    c.need('judge/never_due')(j)
    local remaining, retries = number(j.remaining), number(j.retries)
    if remaining and retries and (remaining > retries or remaining < 0 and state ~= 'failed') then
      c.add('remaining', j.id, j.remaining .. ' of ' .. j.retries)
    end
  end
end
]==]
elseif name == 'judge/legacy_history' then path, text = '@lua/check/judge/legacy_history.lua', [==[local need = ...


return function(c)
  return function(j)
    local text = c.ask('hget', j.key, 'history')
    if not text then return end
    if #text > 250000 then return c.add('not-judged', 'j:' .. j.id, 'field history beyond 250000 bytes') end
    local entries, whole = need('history/legacy')(text)
    if whole then return end
    local list = j.key .. '-history'
    local length, wrong = c.ask('llen', list)

    if wrong then return end
    local changes = {
      {'hash', j.key, 'bad-history', c.ask('hget', j.key, 'bad-history'), text},
      {'hash', j.key, 'history', text, false},
    }
    for i = 1, entries and #entries or 0 do
      changes[#changes + 1] = {'list', list, string.format('%d', length + i - 1), false, entries[i]}
    end
    local waits = j.state == 'waiting' or j.state == 'stalled'
    c.add('job-unreadable', j.id, waits and 'field history of a waiting job' or 'field history', changes)
  end
end
]==]
elseif name == 'judge/lock_agreement' then path, text = '@lua/check/judge/lock_agreement.lua', [==[local need = ...


return function(c)
  return function(changes, j, expires, over)
    local n = tonumber(expires)
    if need('value/number')(j.expires) ~= n then
      changes[#changes + 1] = {'hash', j.key, 'expires', j.expires, expires}
    end
    if not j.worker or j.worker == '' or j.grace and not over then return end
    local key = 'ql:w:' .. j.worker .. ':jobs'
    local score, wrong = c.ask('zscore', key, j.id)
    if wrong or score and math.abs(tonumber(score) - n) <= 0.001 then return end

    if score or c.ask('zscore', 'ql:workers', j.worker) then
      changes[#changes + 1] = {'zset', key, j.id, score, expires}
    end
  end
end
]==]
elseif name == 'judge/lock_too_late' then path, text = '@lua/check/judge/lock_too_late.lua', [==[local need = ...



return function(c)
  local number, beats = need('value/number'), {}
  return function(queue, moment)
    if moment <= c.now + 8640000 then return false end
    if not beats[queue] then
      local set = c.ask('hmget', 'ql:config', queue .. '-heartbeat', 'heartbeat') or {}
      beats[queue] = number(set[1]) or number(set[2]) or 0
    end
    return moment > c.now + 10 * beats[queue]
  end
end
]==]
elseif name == 'judge/never_due' then path, text = '@lua/check/judge/never_due.lua', [==[local need = ...


return function(c)
  return function(j)
    local due = j.scores and not j.scores['-work'] and j.scores['-scheduled']
      or j.state == 'depends' and j.scheduled
    local n = tonumber(due or nil)
    if n and (n < 0 or n > c.last_due) then c.add('never-due', j.id, 'scheduled for ' .. due) end
  end
end
]==]
elseif name == 'judge/payloads' then path, text = '@lua/check/judge/payloads.lua', [==[local need = ...

return function(c)
  return function(j)
    local key = j.key .. '-payloads'
    local count, wrong = c.ask('zcard', key)
    if wrong then return c.wrong_type(key, 'zset') end
    if count == 0 then

      return c.add('payloads-missing', j.id, '', {{'hash', j.key, 'dup', 'merge', false}})
    end

    if j.state == 'running' then return end
    if count > 10000 then return c.add('not-judged', 'j:' .. j.id, 'more than 10000 payloads') end
    c.cost = c.cost + count / 5
    local data, composed = c.ask('hget', j.key, 'data'), need('merge/compose')(j.id)
    if data == composed then return end
    if not pcall(cjson.decode, composed) then
      return c.add('payloads-data', j.id, 'a payload is not JSON', {}, 'broken')
    end
    local changes = {{'hash', j.key, 'data', data, composed}}
    if data then changes[2] = {'hash', j.key, 'bad-data', c.ask('hget', j.key, 'bad-data'), data} end
    c.add('payloads-data', j.id, count .. ' payloads', changes)
  end
end
]==]
elseif name == 'judge/recurring' then path, text = '@lua/check/judge/recurring.lua', [==[local need = ...




return function(c)
  local number = need('value/number')


  local function elsewhere(id, own, seen, all)
    local queues, more, found, done = {}, false, {}, {[own] = true}
    local function enter(queue)
      if done[queue] then return end
      done[queue] = true
      local score = c.ask('zscore', 'ql:q:' .. queue .. '-recur', id)
      if score then found[#found + 1] = {queue, score} end
    end
    if all then queues, more = c.queues() end
    if seen then enter(seen) end
    for i = 1, #queues do enter(queues[i]) end
    table.sort(found, function(a, b) return a[1] < b[1] end)
    return found, more
  end

  return function(id, seen)
    local key = 'ql:r:' .. id
    local r, wrong = c.ask('hmget', key, 'queue', 'interval', 'count', 'priority', 'retries', 'backlog', 'tags', 'data', 'klass', 'opts')
    if wrong then return c.wrong_type(key, 'hash') end
    local queue, interval, count = r[1], number(r[2]), number(r[3])
    if not queue and redis.call('exists', key) == 0 then return end
    local function report(what) c.add('recurring-invalid', id, what, {}, 'part') end

    for i, name in ipairs({'priority', 'retries', 'backlog'}) do
      if not number(r[i + 3]) then c.add('recurring-invalid', id, name, {{'hash', key, name, r[i + 3], '0'}}) end
    end
    local tags, long = c.need('judge/tag_list')(r[7])
    if long then
      c.add('not-judged', 'r:' .. id, 'tags beyond 250000 bytes')
    elseif not tags then
      local stored = r[7]
      local changes = {{'hash', key, 'tags', stored, '{}'}}
      if stored then changes[2] = {'hash', key, 'bad-tags', c.ask('hget', key, 'bad-tags'), stored} end
      c.add('recurring-invalid', id, 'tags', changes)
    end
    if r[8] and #r[8] > 250000 then
      c.add('not-judged', 'r:' .. id, 'data beyond 250000 bytes')
    elseif not r[8] or not pcall(cjson.decode, r[8]) then
      report('data')
    end
    if not r[9] then report('klass') end
    if r[10] and not need('recurring/opts')(r[10]) then report('opts') end
    if not count or count < 0 or count % 1 ~= 0 then
      report('count')
    else

      local n = count
      while n < count + 100 and c.ask('hget', 'ql:j:' .. id .. '-' .. string.format('%.0f', n + 1),
        'spawned_from_jid') == id do
        n = n + 1
      end
      if n > count then c.need('judge/template_count')(id, n) end
    end
    if not queue then return report('queue') end

    local own = 'ql:q:' .. queue .. '-recur'
    local next_run
    next_run, wrong = c.ask('zscore', own, id)
    if wrong then return c.wrong_type(own, 'zset') end
    local found, more = elsewhere(id, queue, seen, not next_run)
    local changes = {}
    for i = 1, #found do
      changes[i] = {'zset', 'ql:q:' .. found[i][1] .. '-recur', id, found[i][2], false}
    end
    if not interval or interval <= 0 then
      if next_run then table.insert(changes, 1, {'zset', own, id, next_run, false}) end
      c.add('recurring-invalid', id, 'interval', changes, not changes[1] and 'part' or nil)
    elseif changes[1] then
      if not next_run then
        changes[#changes + 1] = {'zset', own, id, false, found[1][2]}
        c.list_queue(changes, queue)
      end
      c.add('recurring-foreign', id, found[1][1], changes)
    elseif not next_run then
      if more then
        c.add('not-judged', id, 'more than 500 queues')
      else
        changes[1] = {'zset', own, id, false, c.score(c.now + interval)}
        c.list_queue(changes, queue)
        c.add('recurring-unscheduled', id, queue, changes)
      end
    elseif tonumber(next_run) < 0 or tonumber(next_run) > c.last_due then
      report('next run at ' .. next_run)
    end
    c.need('index/queue_listed')(queue)
  end
end
]==]
elseif name == 'judge/running' then path, text = '@lua/check/judge/running.lua', [==[local need = ...

return function(c)
  local number, too_late = need('value/number'), c.need('judge/lock_too_late')
  return function(j)
    local expires = number(j.expires)
    local locks = 'ql:q:' .. j.queue .. '-locks'
    local lock = j.scores and j.scores['-locks'] or c.ask('zscore', locks, j.id)
    local n = tonumber(lock or nil)
    local judged = lock and expires
    if n and too_late(j.queue, n) or expires and too_late(j.queue, expires) then
      c.add('clock', j.id, 'locked until ' .. c.score(math.max(n or expires, expires or n)))
      judged = false
    elseif lock then
      local changes = {}
      if not expires then
        c.need('judge/lock_agreement')(changes, j, lock)
      elseif j.grace and n < expires - 0.001 or not j.grace and math.abs(n - expires) > 0.001 then
        local later = c.score(math.max(n, expires))
        if n < expires then changes[1] = {'zset', locks, j.id, lock, later} end
        c.need('judge/lock_agreement')(changes, j, later)
      end
      if changes[1] then
        judged = false
        c.add('score', j.id, 'locked until ' .. lock .. ', expires ' .. (j.expires or 'never'), changes)
      end
    end

    if not j.worker or j.worker == '' then return end
    local known, wrong = c.ask('zscore', 'ql:workers', j.worker)
    if not known and not wrong then c.add('worker-unknown', j.worker, '') end
    if j.grace or not judged then return end
    local key = 'ql:w:' .. j.worker .. ':jobs'
    local held
    held, wrong = c.ask('zscore', key, j.id)
    if wrong then
      c.wrong_type(key, 'zset')
    elseif not held or math.abs(tonumber(held) - expires) > 0.001 then
      c.add('worker-gap', j.id, j.worker, {{'zset', key, j.id, held, c.score(expires)}}, not known and 'aged' or nil)
    end
  end
end
]==]
elseif name == 'judge/sets' then path, text = '@lua/check/judge/sets.lua', [==[local need = ...

return function(c)
  local home_of = {waiting = '-work', stalled = '-work', running = '-locks', scheduled = '-scheduled',
    depends = '-depends', throttled = '-throttled'}
  local parts = {'-work', '-locks', '-scheduled', '-depends', '-throttled'}


  local function enter(entries, key, part, queue, jid)
    local score, wrong = c.ask('zscore', key, jid)
    if wrong then
      c.wrong_type(key, 'zset')
    elseif score then
      entries[#entries + 1] = {key = key, part = part, queue = queue, score = score}
    end
    return score, wrong
  end



  local function collect(entries, queue, jid)
    local held, fine = {}, true
    for i = 1, #parts do
      local score, wrong = enter(entries, 'ql:q:' .. queue .. parts[i], parts[i], queue, jid)
      held[parts[i]] = score or nil
      fine = fine and not wrong
    end
    return held, fine
  end

  return function(j, seen)
    local home, own = home_of[j.state], j.queue
    if j.state == 'complete' and own ~= '' then return c.need('judge/complete')(j) end
    if seen == own and j.state ~= 'complete' then seen = nil end
    local entries, held, fine = {}, {}, true

    if home or j.state == 'failed' then held, fine = collect(entries, own, j.id) end
    if not fine then return end
    j.scores = held
    if j.state == 'waiting' and not held[home] and held['-scheduled'] then home = '-scheduled' end
    if j.state == 'depends' and not held[home] and c.outcome('depends-on-nothing')
      and c.ask('scard', j.key .. '-dependencies') == 0 then
      return
    end
    local placed, beyond = not home or held[home], false
    if seen then collect(entries, seen, j.id) end
    if not placed then
      local sets
      sets, beyond = c.sets()
      for i = 1, #sets do
        local set = sets[i]
        if set.queue ~= own and set.queue ~= seen then enter(entries, set.key, set.part, set.queue, j.id) end
      end
    end


    local wrong, drops, foreign, outside, locked = {}, {}, {}, {}, {}
    local part, score, extra
    if not placed then part, score, extra = c.need('repair/home')(j, home_of[j.state], entries) end
    for i = 1, #entries do
      local entry = entries[i]
      local here = entry.queue == own
      local right = here and entry.part == (placed and home or part)
      if not right or not placed then
        local list = here and wrong or foreign
        list[#list + 1] = entry

        local from = (here or not placed) and drops or outside
        if not right then from[#from + 1] = {'zset', entry.key, j.id, entry.score, false} end
        if entry.part == '-locks' and j.state ~= 'running' and tonumber(entry.score) > c.now then
          locked[from] = 'locked'
        end
      end
    end
    if not home then
      for i = 1, #entries do
        local entry = entries[i]
        c.add(entry.part == '-locks' and 'lock-without-run' or 'in-two-sets', j.id,
          string.sub(entry.key, #'ql:' + 1), {{'zset', entry.key, j.id, entry.score, false}})
      end
      return
    end
    local function where(list)
      table.sort(list, function(a, b) return a.key < b.key end)
      return string.sub(list[1].key, #'ql:' + 1)
    end
    if placed then
      if wrong[1] then c.add('in-two-sets', j.id, where(wrong), drops, locked[drops]) end
      if foreign[1] then c.add('in-foreign-queue', j.id, where(foreign), outside, locked[outside]) end
      return
    end
    local id, detail = 'in-no-set', own
    if wrong[1] then
      id, detail = 'in-two-sets', where(wrong)
    elseif foreign[1] then
      id, detail = 'in-foreign-queue', where(foreign)
    elseif beyond then
      c.add('not-judged', j.id, 'more than 500 queues')
      return
    elseif j.state == 'running' then
      id = 'running-without-lock'
    end
    if not score then return c.add(id, j.id, detail, {}, (wrong[1] or foreign[1]) and 'locked' or 'ahead') end
    if held[part] ~= score then
      drops[#drops + 1] = {'zset', 'ql:q:' .. own .. part, j.id, held[part], score}
    end

    if not locked[drops] and c.outcome(id) == 'found' then j.enters = {[part] = score} end
    for i = 1, #extra do drops[#drops + 1] = extra[i] end
    c.list_queue(drops, own)
    c.add(id, j.id, detail, drops, locked[drops])
  end
end
]==]
elseif name == 'judge/slots' then path, text = '@lua/check/judge/slots.lua', [==[local need = ...

return function(c)
  return function(j)
    local ids = c.need('judge/tag_list')(j.throttles) or {}
    if j.state == 'running' then
      for i = 1, #ids do
        local key = 'ql:th:' .. ids[i] .. '-locks'
        local taken, wrong = c.ask('zscore', key, j.id)
        if wrong then
          c.wrong_type(key, 'zset')
        elseif not taken then
          local free = c.need('repair/held').free(ids[i]) > 0
          local changes = free and {{'zset', key, j.id, false, c.score(c.put_time(j))}} or {}
          c.add('slot-missing', j.id, ids[i], changes, not free and 'full' or nil)
        end
      end
    elseif j.state == 'throttled' then
      for i = 1, #ids do
        local key = 'ql:th:' .. ids[i] .. '-pending'
        local value, wrong = c.ask('zscore', key, j.id)
        if wrong then return c.wrong_type(key, 'zset') end
        if value then return end
      end
      local changes = {}
      local locked = c.need('judge/edge_sets').locked(j)
      if not locked then c.need('repair/held').return_to_work(changes, j) end
      c.add('throttled-by-nothing', j.id, j.queue, changes, locked and 'locked' or nil)
    end
  end
end
]==]
elseif name == 'judge/stub' then path, text = '@lua/check/judge/stub.lua', [==[local need = ...

return function(c)
  local parts = {'-work', '-locks', '-scheduled', '-depends', '-throttled'}


  local function remove(j, seen)
    local changes = {}
    local function drop(key)
      local score = c.ask('zscore', key, j.id)
      if score then changes[#changes + 1] = {'zset', key, j.id, score, false} end
    end
    local sets, done = c.sets(), {}
    for i = 1, #sets do
      done[sets[i].queue] = true
      drop(sets[i].key)
    end
    for _, queue in ipairs({seen or j.queue, j.queue}) do
      if queue and not done[queue] then
        done[queue] = true
        for i = 1, #parts do drop('ql:q:' .. queue .. parts[i]) end
      end
    end
    drop('ql:completed')
    if j.worker and j.worker ~= '' then drop('ql:w:' .. j.worker .. ':jobs') end
    c.need('index/failure_lists').remove_everywhere(changes, j.id)
    local tags = c.ask('zrange', 'ql:tags', 0, 999) or {}
    for i = 1, #tags do
      local score = c.ask('zscore', 'ql:t:' .. tags[i], j.id)
      if score then
        changes[#changes + 1] = {'zset', 'ql:t:' .. tags[i], j.id, score, false}
        c.need('index/tag_counter')(changes, tags[i], -1)
      end
    end
    return c.set_aside(changes, j.key)
  end

  return function(j, what, seen)
    if what == 'stub' then

      if need('job/reserved')(j.id) then return c.need('key/key')(string.sub(j.key, #'ql:' + 1)) end
      if c.outcome('job-stub') then c.add('job-stub', j.id, 'nothing but leftovers', remove(j, seen)) end
      return
    end
    if j.jid ~= j.id then
      c.add('job-stub', j.id, j.jid and 'jid is ' .. j.jid or 'no jid', {{'hash', j.key, 'jid', j.jid, j.id}}, 'data')
    end
    local missing = {}
    if not j.klass then missing[#missing + 1] = 'klass' end
    j.data = c.ask('hget', j.key, 'data')
    if not j.data then missing[#missing + 1] = 'data' end
    if not j.state then missing[#missing + 1] = 'state' end
    if not j.queue then missing[#missing + 1] = 'queue' end
    if missing[1] then c.add('job-stub', j.id, 'no ' .. table.concat(missing, ', '), {}, 'part') end
  end
end
]==]
elseif name == 'judge/tag_list' then path, text = '@lua/check/judge/tag_list.lua', [==[local need = ...


return function()
  local known = {}
  return function(text)
    if text == '{}' or text == '[]' then return {} end
    if not text then return nil end
    if known[text] then return known[text] end
    if #text > 250000 then return nil, true end
    local ok, list = pcall(cjson.decode, text)
    if not ok or type(list) ~= 'table' then return nil end
    local count, tags, seen = 0, {}, {}
    for _ in pairs(list) do count = count + 1 end
    if count ~= #list or count > 0 and not string.find(text, '^%s*%[') then return nil end
    for i = 1, count do
      local tag = list[i]
      if type(tag) == 'number' and tag - tag == 0 then tag = tostring(tag) end
      if type(tag) ~= 'string' then return nil end
      if not seen[tag] then
        seen[tag] = true
        tags[#tags + 1] = tag
      end
    end
    known[text] = tags
    return tags
  end
end
]==]
elseif name == 'judge/template_count' then path, text = '@lua/check/judge/template_count.lua', [==[local need = ...


return function(c)
  local most = {}
  return function(id, n)
    local key = 'ql:r:' .. id
    local stored, wrong = c.ask('hget', key, 'count')
    local count = need('value/number')(stored)
    if wrong or not count or count % 1 ~= 0 or n <= count or n <= (most[id] or 0) then return end
    most[id] = n
    local made = string.format('%.0f', n)
    c.add('recurring-count', id, made, {{'hash', key, 'count', stored, made}})
  end
end
]==]
elseif name == 'key/idle' then path, text = '@lua/check/key/idle.lua', [==[local need = ...


return function(c)
  local mark_of, held = need('job/mark'), c.need('repair/held')
  return function(id)
    local free = math.min(100, held.free(id))
    if free <= 0 then return end
    local page, idle, changes, count = c.ask('zrange', 'ql:th:' .. id .. '-pending', 0, 99) or {}, {}, {}, 0
    for i = 1, #page do
      local what, j = c.read(page[i])
      if what == 'job' and j.state == 'throttled' and held.carries(j, id) then
        local left = idle[j.queue]
        if not left then
          local _, since = mark_of(j.id, j.state, j.queue)
          local waits = c.now - (tonumber(since) or 0) <= 10 or c.ask('sismember', 'ql:paused_queues', j.queue) == 1
            or redis.call('exists', 'ql:q:' .. j.queue .. '-work') == 1
          left = waits and 0 or free
        end
        if left > 0 then
          held.return_to_work(changes, j)
          count = count + 1
        end
        idle[j.queue] = left - 1
      end
    end
    if count > 0 then c.add('throttle-idle', id, count .. ' held', changes) end
  end
end
]==]
elseif name == 'key/key' then path, text = '@lua/check/key/key.lua', [==[local need = ...

return function(c)
  local kind_of = need('key/kind')
  local sizes = {string = 'strlen', list = 'llen', set = 'scard', zset = 'zcard', hash = 'hlen'}


  local function companion(name, key, owner, part)
    if part == 'payloads' then return c.need('key/payloads')(name, key, owner) end
    if redis.call('exists', 'ql:j:' .. owner) == 1 then return end
    if part == 'dependents' then c.need('judge/dependents')(owner, 'missing') end
    c.add(part == 'history' and 'history-orphan' or 'edges-orphan', name, 'no job', c.set_aside({}, key))
  end

  return function(name)
    local key = 'ql:' .. name
    local held = redis.call('type', key)
    held = held.ok or held
    if held == 'none' then return end
    local lost = string.sub(key, 1, #'ql:lost:') == 'ql:lost:'
    local kind, family, owner, part, day = kind_of(name)
    if not kind and not lost then return c.add('key-unknown', name, held) end
    local ttl = redis.call('ttl', key)

    local is_throttle = family == 'th' and held == 'hash' and (not part or redis.call('hget', key, 'maximum'))
    if ttl >= 0 and (lost or not is_throttle and family ~= 'u') then
      c.add('key-expires', name, 'in ' .. ttl .. ' seconds', {{'expiry', key, false, ttl .. '000', false}})
    end
    if lost then
      local size = sizes[held] and redis.call(sizes[held], key)
      return c.add('lost-key', name, size and held .. ' of ' .. size or held, {{'delete', key, false, false, false}})
    end
    if is_throttle then return c.need('key/value')(name, key, family) end
    if held ~= kind then return c.wrong_type(key, kind) end
    if family == 'j' and part then
      companion(name, key, owner, part)
    elseif family == 'q' and part ~= 'completed' then
      c.need('index/queue_listed')(owner)
    elseif family == 'f' then
      c.need('index/failures')(owner)
    elseif family == 'th' and part == 'pending' then
      c.need('key/idle')(owner)
    elseif family == 'u' or name == 'fence' then
      c.need('key/value')(name, key, family or name)
    elseif family == 's' and part == 'stats' then
      c.need('index/failed_count')(key, day, owner)
    elseif family == 's' then
      c.need('key/stats')(name, key)
    end
  end
end
]==]
elseif name == 'key/kind' then path, text = '@lua/check/key/kind.lua', [==[local need = ...


return function(key)
  if key == 'queues' or key == 'workers' or key == 'completed' or key == 'tracked' or key == 'tags'
    or key == 'failed-jobs-list' then
    return 'zset'
  elseif key == 'paused_queues' or key == 'failures' then
    return 'set'
  elseif key == 'config' or key == 'pauses' or key == 'paused_recurring' or key == 'qp:identifiers'
    or key == 'subscriptions' or string.find(key, '^topics') then
    return 'hash'
  elseif key == 'fence' then
    return 'string'
  elseif key == 'qp:priorities' or key == 'releasing' then
    return 'list'
  end
  local family, name = string.match(key, '^(%l+):(.*)$')
  if family == 'j' then
    local owner, part = string.match(name, '^(.*)%-([^%-]*)$')
    if part == 'history' then return 'list', family, owner, part end
    if part == 'dependencies' or part == 'dependents' then return 'set', family, owner, part end
    if part == 'payloads' then return 'zset', family, owner, part end
    return 'hash', family, name
  elseif family == 'r' then
    return 'hash', family, name
  elseif family == 'q' then
    local queue, part = string.match(name, '^(.*)%-([^%-]*)$')
    if part == 'work' or part == 'locks' or part == 'scheduled' or part == 'depends' or part == 'recur'
      or part == 'throttled' or part == 'completed' then
      return 'zset', family, queue, part
    end
  elseif family == 'w' then
    local worker = string.match(name, '^(.*):jobs$')
    if worker then return 'zset', family, worker end
  elseif family == 'th' then

    local id, part = string.match(name, '^(.*)%-([^%-]*)$')
    if part == 'locks' or part == 'pending' then return 'zset', family, id, part end
    return 'hash', family, name
  elseif family == 'k' then
    return 'zset', family, name
  elseif family == 'u' then
    return 'string', family, name
  elseif family == 'f' then
    return 'list', family, name
  elseif family == 't' then
    return 'zset', family, name
  elseif family == 's' then
    local part, day, queue = string.match(name, '^(%l+):(%-?%d+):(.*)$')
    if part == 'wait' or part == 'run' or part == 'stats' then return 'hash', family, queue, part, day end
  end
end
]==]
elseif name == 'key/payloads' then path, text = '@lua/check/key/payloads.lua', [==[local need = ...

return function(c)
  return function(name, key, jid)
    local what, j = c.read(jid)
    if what == 'type' or what == 'odd' then return end
    local why = what ~= 'job' and 'no job' or j.state == 'complete' and 'the job is complete'
      or j.dup ~= 'merge' and 'not a merge job'
    if why then c.add('payloads-stray', name, why, c.set_aside({}, key)) end
  end
end
]==]
elseif name == 'key/stats' then path, text = '@lua/check/key/stats.lua', [==[local need = ...

return function(c)
  local number = need('value/number')
  return function(name, key)
    if c.ask('hlen', key) > 1000 then return c.add('not-judged', name, 'more than 1000 fields') end
    local fields, sum, of = redis.call('hgetall', key), 0, {}
    for i = 1, #fields, 2 do
      of[fields[i]] = fields[i + 1]
      if string.find(fields[i], '^[smhd]%-?%d+$') then sum = sum + (number(fields[i + 1]) or 0) end
    end
    local total, vk, mean = of.total or '0', of.vk or '0', of.mean or '0'
    if number(total) ~= sum then
      c.add('stats-sum', name, 'total is ' .. total .. ', slots hold ' .. c.score(sum))
    elseif not number(vk) or number(vk) < -1e-6 then
      c.add('stats-sum', name, 'vk is ' .. vk)
    elseif not number(mean) then
      c.add('stats-sum', name, 'mean is ' .. mean)
    end
  end
end
]==]
elseif name == 'key/value' then path, text = '@lua/check/key/value.lua', [==[local need = ...

return function(c)
  local number = need('value/number')
  return function(name, key, family)
    if family == 'th' then
      local stored = c.ask('hget', key, 'maximum')
      local n = stored and number(stored)
      if not n then
        c.add('config-value', name, 'maximum is no number, so it limits nothing')
      elseif n % 1 ~= 0 then
        c.add('config-value', name, 'maximum is no whole number')
      end
      return
    end
    local text = c.ask('get', key)
    if family == 'fence' then

      if not string.find(text, '^%d+$') or #text > 18 then
        c.add('config-value', name, 'is no count, so jobs get no fencing tokens')
      end
    else
      local ends = number(string.match(text, '^(%S+) ') or '')
      if ends and ends > c.last_due then c.add('config-value', name, 'is open until ' .. text) end
    end
  end
end
]==]
elseif name == 'key/wrong_type' then path, text = '@lua/check/key/wrong_type.lua', [==[local need = ...

return function(c)
  return function(key, kind)
    local held = redis.call('type', key)
    held = held.ok or held
    local job = held == 'hash' and c.ask('hget', key, 'jid') and c.ask('hget', key, 'data')
    c.add('key-type', string.sub(key, #'ql:' + 1), 'is a ' .. held .. ', not a ' .. kind, c.set_aside({}, key),
      job and 'job' or nil)
  end
end
]==]
elseif name == 'repair/apply' then path, text = '@lua/check/repair/apply.lua', [==[local need = ...




local function insert(key, at, value)
  local call, in_chunks = redis.call, need('value/in_chunks')
  local length = call('llen', key)
  if at > 1000 and length - at > 1000 then


    local there, mark = call('lrange', key, at, at)[1], need('repair/entry_mark')(key, value)
    call('lset', key, at, mark)
    local added = redis.pcall('linsert', key, 'BEFORE', mark, value)
    local refused = type(added) == 'table'
    call('lset', key, refused and at or at + 1, there)
    if not refused then return end
  end
  if at == 0 then
    call('lpush', key, value)
  elseif at >= length then
    call('rpush', key, value)
  elseif at > length / 2 then
    local rest = call('lrange', key, at, -1)
    call('ltrim', key, 0, at - 1)
    call('rpush', key, value)
    in_chunks('rpush', key, rest, 1, #rest)
  else
    local front, back = call('lrange', key, 0, at - 1), {}
    call('ltrim', key, at, -1)
    call('lpush', key, value)
    for i = #front, 1, -1 do back[#back + 1] = front[i] end
    in_chunks('lpush', key, back, 1, #back)
  end
end

return function(kind, key, item, before, after)
  local call = redis.call
  if kind == 'hash' then
    if after then call('hset', key, item, after) else call('hdel', key, item) end
  elseif kind == 'zset' then
    if after then call('zadd', key, after, item) else call('zrem', key, item) end
  elseif kind == 'set' then
    call(after and 'sadd' or 'srem', key, item)
  elseif kind == 'list' then
    if before and after then
      call('lset', key, item, after)
    elseif after then
      insert(key, tonumber(item), after)
    else
      need('repair/remove_entries')(key, {{kind, key, item, before}}, 1, 1)
    end
  elseif kind == 'move' then
    call('rename', key, after)
  elseif kind == 'expiry' then
    call('persist', key)
  else
    call('del', key)
  end
end
]==]
elseif name == 'repair/current' then path, text = '@lua/check/repair/current.lua', [==[local need = ...


return function(kind, key, item)
  local pcall, value = redis.pcall, nil
  if kind == 'hash' then
    value = pcall('hget', key, item)
  elseif kind == 'zset' then
    value = pcall('zscore', key, item)
  elseif kind == 'set' then
    value = pcall('sismember', key, item)
    if type(value) == 'number' then value = value == 1 and '1' end
  else
    value = pcall('lrange', key, item, item)
    if not value.err then value = value[1] or false end
  end
  if type(value) == 'table' then return nil end
  return value
end
]==]
elseif name == 'repair/entry_mark' then path, text = '@lua/check/repair/entry_mark.lua', [==[local need = ...

return function(key, entry)
  return '\0' .. redis.sha1hex(key .. '\0' .. entry)
end
]==]
elseif name == 'repair/held' then path, text = '@lua/check/repair/held.lua', [==[local need = ...

return function(c)
  local held, ask, tag_list = {}, c.ask, c.need('judge/tag_list')


  function held.carries(j, id)
    local ids = tag_list(j.throttles) or {}
    for i = 1, #ids do
      if ids[i] == id then return true end
    end
    return false
  end


  function held.drop_pending(changes, j)
    local ids = tag_list(j.throttles) or {}
    for i = 1, #ids do
      local key = 'ql:th:' .. ids[i] .. '-pending'
      local value = ask('zscore', key, j.id)
      if value then changes[#changes + 1] = {'zset', key, j.id, value, false} end
    end
  end


  function held.return_to_work(changes, j)
    local base = 'ql:q:' .. j.queue
    held.drop_pending(changes, j)
    local value = ask('zscore', base .. '-throttled', j.id) or j.enters and j.enters['-throttled']
    if value then changes[#changes + 1] = {'zset', base .. '-throttled', j.id, value, false} end
    local score = value and c.score(-tonumber(value)) or c.work_score(j)
    changes[#changes + 1] = {'zset', base .. '-work', j.id, ask('zscore', base .. '-work', j.id), score}
    changes[#changes + 1] = {'hash', j.key, 'state', j.state, 'waiting'}
  end


  function held.free(id)
    local most = need('throttle/maximum')(id)
    return most == 0 and math.huge or most - (ask('zcard', 'ql:th:' .. id .. '-locks') or 0)
  end


  function held.wrong_type(key)
    local kind = redis.call('type', key)
    if (kind.ok or kind) ~= 'hash' then c.wrong_type(key, 'zset') end
  end
  return held
end
]==]
elseif name == 'repair/home' then path, text = '@lua/check/repair/home.lua', [==[local need = ...


return function(c)
  local number, too_late = need('value/number'), c.need('judge/lock_too_late')

  return function(j, home, entries)
    local best, extra = nil, {}
    for i = 1, #entries do
      local entry = entries[i]
      if entry.part == home and not best then best = entry.score end
      if entry.part == '-scheduled' and j.state == 'waiting' and not best then
        home, best = entry.part, entry.score
      end
    end
    if home == '-work' then
      return home, best and c.fits_priority(j, best) and best or c.work_score(j), extra
    elseif home == '-scheduled' then
      local due = best or number(j.scheduled) and c.score(number(j.scheduled))
      if due then return home, due, extra end
      extra[1] = {'hash', j.key, 'state', j.state, 'waiting'}
      for i = 1, #entries do
        local entry = entries[i]
        if entry.part == '-work' and c.fits_priority(j, entry.score) then best = best or entry.score end
      end
      return '-work', best or c.work_score(j), extra
    elseif home == '-depends' then
      return home, best or c.score(c.put_time(j)), extra
    elseif home == '-throttled' then
      return home, best or c.score(-tonumber(c.work_score(j))), extra
    end
    local expires, lock = number(j.expires), tonumber(best or nil)
    local absurd = {expires and too_late(j.queue, expires), lock and too_late(j.queue, lock)}
    if absurd[1] then expires = nil end
    if absurd[2] then lock = nil end
    if not expires and not lock then
      if absurd[1] or absurd[2] then return home end
      lock = c.now
    end
    lock = math.max(lock or expires, expires or lock)

    local over = j.grace and expires and lock <= expires + 0.001
    if over then extra[1] = {'hash', j.key, 'grace', j.grace, false} end
    if over or not j.grace or not expires then c.need('judge/lock_agreement')(extra, j, c.score(lock), over) end
    return home, c.score(lock), extra
  end
end
]==]
elseif name == 'repair/lane' then path, text = '@lua/check/repair/lane.lua', [==[local need = ...

return function(c)
  local lanes, ask, edges = {}, c.ask, c.need('judge/edge_sets')
  local find_cycle = need('dependency/find_cycle')


  function lanes.is_live(j, lane)
    return j.lane == lane and j.state ~= 'complete' and (j.state ~= 'failed' or j.hold == '1')
  end


  function lanes.entry(lane, jid)
    local what, j = c.read(jid)
    if what == 'gone' or what == 'stub' then return 'dead', j end
    if what ~= 'job' then return 'odd', j, what end
    return lanes.is_live(j, lane) and 'live' or 'dead', j
  end



  local function nearest(lane, rank, step)
    local key = 'ql:k:' .. lane
    for i = 1, 1000 do
      local at = rank + i * step
      local jid = at >= 0 and ask('zrange', key, at, at)[1]
      if not jid then return nil end
      local what, j = lanes.entry(lane, jid)
      if what == 'live' then return jid, j end
      if what == 'odd' then return nil end
    end
  end


  function lanes.before(lane, rank) return nearest(lane, rank, -1) end


  function lanes.held(j)
    local key = j.lane or j.lane == nil and ask('hget', j.key, 'key')
    local rank = key and ask('zrank', 'ql:k:' .. key, j.id)
    return rank and rank > 0 and nearest(key, rank, -1) ~= nil
  end


  function lanes.has_edge(y, x)
    return ask('sismember', 'ql:j:' .. y .. '-dependencies', x) ~= 0
      or ask('sismember', 'ql:j:' .. x .. '-dependents', y) ~= 0
  end

  local function link(changes, y, x)
    local above, below = 'ql:j:' .. y .. '-dependencies', 'ql:j:' .. x .. '-dependents'
    if ask('sismember', below, y) == 0 then changes[#changes + 1] = {'set', below, y, false, '1'} end
    if ask('sismember', above, x) == 0 then changes[#changes + 1] = {'set', above, x, false, '1'} end
  end


  function lanes.block(changes, j, before)
    local stays = j.state == 'depends' or j.state == 'failed'
    if find_cycle(j.id, {before}, true) ~= nil or not stays and edges.locked(j) then return nil end
    link(changes, j.id, before)
    if stays then return changes end
    local base = 'ql:q:' .. j.queue
    for _, part in ipairs({'-work', '-scheduled', '-throttled', '-locks'}) do
      local score = ask('zscore', base .. part, j.id) or j.enters and j.enters[part]
      if score then
        changes[#changes + 1] = {'zset', base .. part, j.id, score, false}
        if part == '-scheduled' then changes[#changes + 1] = {'hash', j.key, 'scheduled', j.scheduled, score} end
      end
    end
    c.need('repair/held').drop_pending(changes, j)
    local held = ask('zscore', base .. '-depends', j.id) or false
    changes[#changes + 1] = {'zset', base .. '-depends', j.id, held, c.score(c.put_time(j))}
    changes[#changes + 1] = {'hash', j.key, 'state', j.state, 'depends'}
    return changes
  end



  function lanes.join(j)
    local key, before, at, place, behind = 'ql:k:' .. j.lane, nil, nil, nil, nil
    local entries, runs = ask('zrange', key, 0, 1999, 'WITHSCORES'), j.state == 'running'
    if #entries > 2000 then return nil end
    for i = 1, #entries, 2 do
      local score = tonumber(entries[i + 1])
      local what, other = lanes.entry(j.lane, entries[i])
      if what == 'odd' then return nil end
      if what == 'live' then
        if runs or find_cycle(j.id, {entries[i]}, true) ~= nil then
          place, behind = at and (at + score) / 2 or score - 1, other
          break
        end
        before = entries[i]
      end
      at = score
    end
    local changes = {{'zset', key, j.id, false, c.score(place or (at or 0) + 1)}}
    if before and not lanes.block(changes, j, before) then return nil end
    if behind and runs then
      if behind.state == 'running' or not lanes.block(changes, behind, j.id) then return nil end
    elseif behind and (behind.state == 'depends' or behind.state == 'failed') then
      local list = before and edges.cut(behind.id, before) or {}
      for i = 1, #list do changes[#changes + 1] = list[i] end
      link(changes, behind.id, j.id)
    end
    return changes
  end


  function lanes.behind(lane, rank) return nearest(lane, rank, 1) end

  lanes.link = link
  return lanes
end
]==]
elseif name == 'repair/lane_leave' then path, text = '@lua/check/repair/lane_leave.lua', [==[local need = ...



return function(c)
  local lanes, edges, ask = c.need('repair/lane'), c.need('judge/edge_sets'), c.ask
  local find_cycle = need('dependency/find_cycle')

  return function(lane, jid, rank)
    local key = 'ql:k:' .. lane
    local changes = {{'zset', key, jid, ask('zscore', key, jid), false}}

    local function cut(y, x)
      local list = edges.cut(y, x)
      for i = 1, #list do changes[#changes + 1] = list[i] end
      return list[1] ~= nil
    end
    local before = lanes.before(lane, rank)
    if before then cut(jid, before) end
    local behind, j = lanes.behind(lane, rank)
    if not behind then return changes end
    local was = cut(behind, jid)
    if before then
      if find_cycle(behind, {before}, true) == nil then lanes.link(changes, behind, before) end
    elseif was and j.state == 'depends' and ask('scard', j.key .. '-dependencies') == 1 then
      if edges.locked(j) then return {}, 'locked' end
      edges.release(changes, j)
    end
    return changes
  end
end
]==]
elseif name == 'repair/outcomes' then path, text = '@lua/check/repair/outcomes.lua', [==[local need = ...


return function()
  return [[

    ['ghost-waiting'] = 'found',
    ['ghost-lock'] = 'found',
    ['ghost-scheduled'] = 'found',
    ['ghost-depends'] = 'found',
    ['ghost-throttled'] = 'found',
    ['ghost-recurring'] = 'found',
    ['in-two-sets'] = 'found',
    ['in-two-sets locked'] = 'report',
    ['in-foreign-queue'] = 'found',
    ['in-foreign-queue locked'] = 'report',
    ['in-no-set'] = 'found',
    ['queue-unlisted'] = 'found',
    ['queue-empty'] = 'report',
    ['queue-stuck'] = 'report',
    ['over-limit'] = 'report',

    ['job-stub'] = 'found',
    ['job-stub data'] = 'decide',
    ['job-stub part'] = 'report',
    ['job-unreadable'] = 'found',
    ['job-unreadable part'] = 'report',
    ['field-leftover'] = 'decide',
    ['remaining'] = 'report',
    ['score'] = 'found',
    ['clock'] = 'report',
    ['never-due'] = 'report',

    ['running-without-lock'] = 'found',
    ['running-without-lock ahead'] = 'report',
    ['lock-without-run'] = 'found',
    ['worker-stray'] = 'found',
    ['worker-gap'] = 'found',
    ['worker-gap aged'] = 'report',
    ['worker-unknown'] = 'report',

    ['dependency-missing'] = 'decide',
    ['dependency-missing locked'] = 'report',
    ['dependency-complete'] = 'found',
    ['dependency-complete locked'] = 'report',
    ['dependency-one-sided'] = 'found',
    ['dependency-one-sided idle'] = 'decide',
    ['dependency-cycle'] = 'report',
    ['depends-on-nothing'] = 'found',
    ['depends-on-nothing locked'] = 'report',
    ['depends-on-failed'] = 'report',

    ['lane-stray'] = 'found',
    ['lane-stray locked'] = 'report',
    ['lane-unlisted'] = 'found',
    ['lane-unlisted beside'] = 'report',
    ['lane-edge'] = 'found',
    ['lane-edge beside'] = 'report',
    ['lane-order'] = 'found',
    ['lane-order beside'] = 'report',
    ['lane-unmarked'] = 'found',
    ['slot-stray'] = 'found',
    ['slot-missing'] = 'found',
    ['slot-missing full'] = 'report',
    ['pending-stray'] = 'found',
    ['throttled-by-nothing'] = 'found',
    ['throttled-by-nothing locked'] = 'report',
    ['throttle-idle'] = 'found',
    ['payloads-stray'] = 'found',
    ['payloads-missing'] = 'found',
    ['payloads-data'] = 'found',
    ['payloads-data broken'] = 'report',

    ['failed-stray'] = 'found',
    ['failed-unlisted'] = 'found',
    ['failed-twice'] = 'found',
    ['failed-counter'] = 'found',
    ['group-set'] = 'found',
    ['failed-time'] = 'found',
    ['failed-time-ghost'] = 'found',

    ['completed-stray'] = 'found',
    ['completed-stray queue'] = 'report',
    ['completed-unlisted'] = 'found',
    ['completed-unlisted ahead'] = 'report',
    ['completed-in-queue'] = 'found',
    ['tag-index'] = 'found',
    ['tag-count'] = 'found',
    ['tracked-gone'] = 'decide',

    ['recurring-unscheduled'] = 'decide',
    ['recurring-foreign'] = 'found',
    ['recurring-invalid'] = 'found',
    ['recurring-invalid part'] = 'report',
    ['recurring-count'] = 'found',

    ['key-type'] = 'decide',
    ['key-type job'] = 'report',
    ['key-expires'] = 'found',
    ['key-unknown'] = 'report',
    ['history-orphan'] = 'decide',
    ['edges-orphan'] = 'decide',
    ['lost-key'] = 'decide',
    ['stats-sum'] = 'report',
    ['config-value'] = 'report',
    ['not-judged'] = 'report',

    ['server-evicts'] = 'report',
  ]]
end
]==]
elseif name == 'repair/plan' then path, text = '@lua/check/repair/plan.lua', [==[local need = ...
return function(c)
  local number, ask, now = need('value/number'), c.ask, c.now


  function c.score(n)
    if n == math.huge then return 'inf' end
    if n == -math.huge then return '-inf' end
    return string.format('%.17g', n)
  end


  function c.put_time(j)
    local time = number(j.time)
    return time and time <= now + 3600 and time or now
  end


  function c.work_score(j)
    if j.state == 'stalled' then return 'inf' end
    return c.score((number(j.priority) or 0) - c.put_time(j) / 10000000000)
  end


  local names, more
  function c.queues()
    if not names then
      names = ask('zrange', 'ql:queues', 0, 500) or {}
      more = #names > 500
      names[501] = nil
    end
    return names, more
  end



  local sets
  function c.sets()
    local queues, beyond = c.queues()
    if not sets then
      sets = {}
      for i = 1, #queues do
        for _, part in ipairs({'-work', '-locks', '-scheduled', '-depends', '-throttled'}) do
          local key = 'ql:q:' .. queues[i] .. part
          if redis.call('exists', key) == 1 then sets[#sets + 1] = {key = key, queue = queues[i], part = part} end
        end
      end
    end
    return sets, beyond
  end


  function c.list_queue(changes, queue)
    local score, wrong = ask('zscore', 'ql:queues', queue)
    if not score and not wrong then changes[#changes + 1] = {'zset', 'ql:queues', queue, false, c.score(now)} end
  end


  function c.set_aside(changes, key)
    local ttl = redis.call('ttl', key)
    if ttl >= 0 then changes[#changes + 1] = {'expiry', key, false, ttl .. '000', false} end
    changes[#changes + 1] = {'move', key, false, false, 'ql:lost:' .. c.run .. ':' .. string.sub(key, #'ql:' + 1)}
    return changes
  end
end
]==]
elseif name == 'repair/record' then path, text = '@lua/check/repair/record.lua', [==[local need = ...



local function ordered(changes)
  if not changes[2] then return changes end
  local list = {}
  for i = 1, #changes do
    if changes[i][3] and changes[i][5] then list[#list + 1] = changes[i] end
  end
  for i = 1, #changes do
    if not (changes[i][3] and changes[i][5]) then list[#list + 1] = changes[i] end
  end
  return list
end

return function(c)
  local noted, write, rows, known = {}, nil, c.rows, need('repair/outcomes')()
  local out, only, outcomes = c.out, c.only, {}


  function c.outcome(id, case)
    if out[id] or only and not only[id] then return nil end
    local name = case and id .. ' ' .. case or id
    if outcomes[name] then return outcomes[name] end
    local _, at = string.find(known, "['" .. name .. "'] = '", 1, true)
    local word = string.match(known, '^%l+', at + 1)
    if word == 'decide' and only then word = 'found' end
    outcomes[name] = word
    return word
  end


  function c.add(id, item, detail, changes, case)
    local word = c.outcome(id, case)
    if not word then return end
    local name = id .. '\n' .. item .. '\n' .. detail
    if noted[name] then return end
    noted[name] = true
    changes = changes or {}
    if word ~= 'report' and not changes[1] then word = 'report' end
    c.pending[#c.pending + 1] = {{id, item, word, detail}, word == 'report' and {} or ordered(changes)}
  end

  function c.wrong_type(key, kind) c.need('key/wrong_type')(key, kind) end



  function c.write(changes, first)
    write = write or need('repair/write')()
    local made = write(changes, c.wrote, first)
    c.wrote = c.wrote or made ~= nil and made[1] ~= nil
    c.refused = c.refused or not made
    return made
  end


  function c.report(row, changes)
    for i = 1, #changes do
      local change = changes[i]
      row[i + 4] = {change[2], change[3] or false, change[4] or false, change[5] or false}
      if change[1] == 'list' then c.relisted = c.relisted + 1 end
    end
    rows[#rows + 1] = row
  end



  function c.flush()
    local pending = c.pending
    for i = 1, #pending do
      local row, changes = pending[i][1], pending[i][2]
      if c.repair and row[3] == 'found' and not c.refused then
        local made = c.write(changes, i == 1)
        if made then row[3], changes = 'mended', made end
      end
      c.report(row, changes)
    end
    c.pending = {}
  end
end
]==]
elseif name == 'repair/remove_entries' then path, text = '@lua/check/repair/remove_entries.lua', [==[local need = ...


return function(key, changes, first, last)
  local call, length = redis.call, redis.call('llen', key)
  local mark, count = need('repair/entry_mark')(key, changes[first][4]), last - first + 1

  if tonumber(changes[last][3]) >= length - 1 - tonumber(changes[first][3]) then count = -count end

  local marked = redis.pcall('lset', key, changes[first][3], mark)
  if marked.err then
    for i = first, last do call('lrem', key, tonumber(changes[i][3]) == 0 and 1 or -1, changes[i][4]) end
    return
  end
  for i = first + 1, last do call('lset', key, changes[i][3], mark) end
  call('lrem', key, count, mark)
end
]==]
elseif name == 'repair/write' then path, text = '@lua/check/repair/write.lua', [==[local need = ...



return function()
  local apply, current, asked = need('repair/apply'), need('repair/current'), {}


  local function needed(change)
    local kind, key, item, before, after = unpack(change)
    if kind == 'move' then
      if redis.call('exists', key) == 0 then return nil end
      local free, n = after, 1
      while redis.call('exists', free) == 1 do
        n = n + 1
        free = after .. ':' .. n
      end
      return {kind, key, item, before, free}
    end
    if kind == 'expiry' or kind == 'delete' then return change end
    local held = current(kind, key, item)
    if held == nil then return nil end
    if kind == 'list' then
      if before and held ~= before then return nil end
      return change
    end
    if held == after or kind == 'zset' and held and after and tonumber(held) == tonumber(after) then return nil end
    return {kind, key, item, held, after}
  end



  local function allowed(kind, key, item, before, after)
    local name, command = kind .. (before and '-' or '') .. (after and '+' or ' ') .. key, nil
    if asked[name] then return end
    asked[name] = true
    if kind == 'hash' then
      command = after and {'hset', key, item, after} or {'hdel', key, item}
    elseif kind == 'zset' then
      command = after and {'zadd', key, after, item} or {'zrem', key, item}
    elseif kind == 'set' then
      command = {after and 'sadd' or 'srem', key, item}
    elseif kind == 'list' then
      command = before and after and {'lset', key, item, after} or after and {'lpush', key, after}
        or {'lrem', key, '1', before}
    elseif kind == 'move' then
      command = {'rename', key, after}
    else
      command = {kind == 'expiry' and 'persist' or 'del', key}
    end
    if not redis.acl_check_cmd(unpack(command)) then redis.call(unpack(command)) end
  end


  local function run_of(changes, from)
    local to = from
    local kind, key, _, before, after = unpack(changes[from])
    if kind ~= 'list' or not before or after then return from end
    while true do
      local other = changes[to + 1]
      if not other or other[1] ~= kind or other[2] ~= key or not other[4] or other[5]
        or tonumber(other[3]) >= tonumber(changes[to][3]) then
        return to
      end
      to = to + 1
    end
  end

  return function(changes, quiet, first)
    local made = {}
    local ok, refusal = pcall(function()
      if redis.acl_check_cmd then
        for i = 1, #changes do allowed(unpack(changes[i])) end
      end
      local i = 1
      while i <= #changes do
        local change, last = changes[i], run_of(changes, i)
        if last > i then

          need('repair/remove_entries')(change[2], changes, i, last)
          for k = i, last do made[#made + 1] = changes[k] end
        else

          if not (first and change[1] == 'zset' and not change[5]) then change = needed(change) end
          if change then
            apply(unpack(change))
            made[#made + 1] = change
          end
        end
        i = last + 1
      end
    end)
    if ok then return made end
    for i = #made, 1, -1 do
      local kind, key, item, before, after = unpack(made[i])
      if kind == 'move' then
        pcall(apply, kind, after, false, false, key)
      elseif item then
        pcall(apply, kind, key, item, after, before)
      end
    end
    if not quiet then error(refusal, 0) end
  end
end
]==]
elseif name == 'value/wrong_type' then path, text = '@lua/lib/value/wrong_type.lua', [==[local need = ...



return function(reply, wrote, kind, key, ...)
  if string.find(reply.err, 'WRONGTYPE', 1, true) then return key .. ' is no ' .. kind end
  if not wrote then redis.call(...) end
  return reply.err
end
]==]
end
built[name] = loadstring(text, path)
return built[name](need)
end
if name == 'put' then
return function(argv, now, t, seconds)
  local queue, jid, klass, data, delay_text = argv[4], argv[5], argv[6], argv[7], argv[8]
  if not queue then error('Queue(): no queue name provided') end
  if not jid then error('Put(): Arg "jid" missing') end
  if not klass then error('Put(): Arg "klass" missing') end
  if not data or cjson.decode(data) == false then
    error('Put(): Arg "data" missing or not JSON: ' .. tostring(data))
  end
  local delay = tonumber(delay_text)
  if not delay or delay - delay ~= 0 then error('Put(): Arg "delay" not a number: ' .. tostring(delay_text)) end
  local o
  if argv[9] then
    o = need('job/put_options')(argv, 9)
    if o.depends and o.depends[1] then o.pending = need('dependency/pending_dependencies')(jid, o.depends) end
  else
    o = {}
  end
  local last = string.byte(jid, -1)
  if (last == 121 or last == 115) and need('job/reserved')(jid) then
    error('Put(): Arg "jid" must not end in -history, -dependencies, -dependents or -payloads: ' .. jid)
  end
  local old = redis.call('hmget', 'ql:j:' .. jid, 'state', 'queue', 'worker', 'priority', 'tags', 'retries', 'failure', 'history', 'grace', 'scheduled', 'throttles')
  local defaults, most
  if o.x then
    local settings = redis.pcall('hmget', 'ql:config', queue .. '-defaults', 'max-job-history', 'merge-max')
    defaults, o.limit, most = settings[1], settings[2], settings[3]
  elseif old[1] then
    local settings = redis.pcall('hmget', 'ql:config', queue .. '-defaults', 'max-job-history')
    defaults, o.limit = settings[1], settings[2]
  else
    defaults = redis.pcall('hget', 'ql:config', queue .. '-defaults')
  end
  if defaults or o.x or old[11] then
    local put = need('job/put_extended')
    local took, _, path = put(now, t, seconds, argv[3], queue, jid, klass, data, delay, o, old, o.x or {}, defaults,
      'Put', most)
    if not took then error('Put(): Arg "depends" closes a cycle: ' .. table.concat(path, ' ')) end
    return took
  end
  need('job/put')(now, t, seconds, argv[3], queue, jid, klass, data, delay, o, old)
  return jid
end
elseif name == 'pop' then
local function setting(text)
  local n = text and tonumber(text)
  if n and n - n == 0 then return n end
end
return function(argv, now, t, seconds, known)
  local call = redis.call
  local queue, worker, count = argv[3], argv[4], tonumber(argv[5])
  if not queue then error('Queue(): no queue name provided') end
  if not worker then error('Pop(): Arg "worker" missing') end
  if not count or count - count ~= 0 then
    error('Pop(): Arg "count" missing or not a number: ' .. tostring(argv[5]))
  end
  local odd = count % 1 ~= 0 or count > 9e15 or count < -9e15
  if call('sismember', 'ql:paused_queues', queue) == 1 and need('queue/paused')(now, queue, odd) then return '{}' end
  if odd then need('value/integer')(count) end
  if not (known and known.listed) then call('zadd', 'ql:workers', t, worker) end
  if known then known.listed = true end
  local config = known or redis.pcall('hmget', 'ql:config', queue .. '-heartbeat', 'heartbeat',
    queue .. '-max-concurrency', 'grace-period', 'max-job-history', queue .. '-defaults')
  local own_heartbeat, heartbeat, concurrency = config[1], config[2], config[3]
  local grace, max_history, defaults = config[4], config[5], config[6]
  local base = 'ql:q:' .. queue
  local max, free = setting(concurrency), nil
  if max and max >= 1 then
    free = math.max(0, math.floor(max) - call('zcount', base .. '-locks', t, '+inf'))
    count = math.min(count, free)
  end
  if count == 0 then return '{}' end
  local slice = known and known.slice
  if count < 0 or count > 10000 then count = need('queue/most')(t, queue, count) end
  local limit = tonumber(max_history or 100) or 100
  local jids, jobs, taken, rest = {}, {}, 0, count
  local decider
  local only = known and known.only
  local most = slice and slice.lost or 5000
  if count >= 0 and count < most then most = count end
  local lost = only and {} or call('zrangebyscore', base .. '-locks', '-inf', t, 'LIMIT', 0, most)
  if lost[1] then
    slice = slice or need('queue/slice')()
    slice.lost = slice.lost - #lost
    jids, jobs = need('queue/expire_locks')(now, t, seconds, queue, lost, setting(grace) or 10, limit)
    for i = #jids, 1, -1 do
      if defaults or jobs[i][13] then
        decider = decider or need('queue/decider')(now, t, seconds, queue, defaults, limit, slice)
        decider.judge_lost(jids, jobs, i)
      end
    end
    taken = #jids
    rest = math.min(count - taken, 10000 - 2 * #lost)
    if free then
      local held = call('zcount', base .. '-locks', '(' .. t, '+inf') + taken
      rest = math.min(rest, math.max(0, math.floor(max) - held))
    end
  end
  local present = rest ~= 0 and not only and call('exists', base .. '-recur', base .. '-scheduled',
    base .. '-throttled', 'ql:releasing', 'ql:releasing', 'ql:releasing', 'ql:releasing') or 0
  if present > 3 then need('dependency/release_rest')(now) end
  local more = present % 4 > 0
  if more then slice = slice or need('queue/slice')() end
  local due = more and need('queue/due')(now, t, queue, rest, slice)
  local read = need('job/read')
  local want, from, remove, count = rest, 0, {}, taken
  local met, met_job, met_page
  while want ~= 0 and (from == 0 or from <= rest + 1000) do
    local page = only and {only} or call('zrevrange', base .. '-work', from, from + want - 1)
    if not page[1] then break end
    local missed = 0
    for i = 1, #page do
      local jid = page[i]
      local job = read(jid)
      local what = job[3] == 'waiting' and job[4] == queue and job[1] and 'take'
        or need('queue/pop_decision')(queue, t, jid, job)
      if what == 'take' and (defaults or job[13]) then
        met, met_job, met_page = i, job, page
        break
      end
      if what == 'take' then
        count = count + 1
        jids[count], jobs[count] = jid, job
      else
        missed = missed + 1
      end
      if what == 'drop' then remove[#remove + 1] = jid end
    end
    if met then break end
    from = from + #page
    want = want > 0 and not only and missed or 0
  end
  if met or more and rest > count - taken then
    decider = decider or need('queue/decider')(now, t, seconds, queue, defaults, limit, slice)
    decider.single = only
    count = decider.scan(rest, taken, met_page or {}, from, met or 1, met_job, jids, jobs, count, more, due)
  end
  if count == 0 then
    if remove[1] then need('value/in_chunks')('zrem', base .. '-work', remove, 1, #remove) end
    if decider then decider.wake() end
    return '{}'
  end
  local ends = now + (setting(own_heartbeat) or setting(heartbeat) or 60)
  local reply, given = need('queue/grant')(now, seconds, queue, worker, ends, limit, jids, jobs, count, taken, remove)
  if seconds % 10 == 0 and (more or rest == 0 and call('exists', base .. '-throttled') == 1) then
    decider = decider or need('queue/decider')(now, t, seconds, queue, defaults, limit, slice)
    decider.recheck()
  end
  if decider then decider.wake() end
  return reply, given
end
elseif name == 'heartbeat' then
return function(argv, now, t)
  local call = redis.call
  local jid, worker, data = argv[3], argv[4], argv[5]
  if not jid then error('Job(): no jid provided') end
  if not worker then error('Heatbeat(): Arg "worker" missing') end
  if data then
    local value = cjson.decode(data)
    if value == false then
      data = nil
    elseif string.find(data, '\0', 1, true) then
      data = cjson.encode(value)
    end
  end
  local key = 'ql:j:' .. jid
  local job = call('hmget', key, 'state', 'worker', 'queue', 'grace')
  local state, queue = job[1], job[3] or ''
  if not job[2] then error('Heartbeat(): Job ' .. jid .. ' does not exist') end
  if state ~= 'running' then
    error('Heartbeat(): Job ' .. jid .. ' not currently running: ' .. tostring(state))
  end
  if job[2] ~= worker or worker == '' then
    error('Heartbeat(): Job ' .. jid .. ' given out to another worker: ' .. job[2])
  end
  local config = redis.pcall('hmget', 'ql:config', queue .. '-heartbeat', 'heartbeat')
  local own, common = tonumber(config[1]), tonumber(config[2])
  local ends = now + (own and own - own == 0 and own or common and common - common == 0 and common or 60)
  local expires = string.format('%.17g', ends)
  if data then
    call('hmset', key, 'expires', expires, 'worker', worker, 'data', data)
  else
    call('hmset', key, 'expires', expires, 'worker', worker)
  end
  if job[4] then call('hdel', key, 'grace') end
  call('zadd', 'ql:w:' .. worker .. ':jobs', expires, jid)
  call('zadd', 'ql:workers', t, worker)
  call('zadd', 'ql:q:' .. queue .. '-locks', expires, jid)
  return ends
end
elseif name == 'complete' then
return function(argv, now, t, seconds, known)
  local call, encode = redis.call, cjson.encode
  local jid, worker, queue, data = argv[3], argv[4], argv[5], argv[6]
  if not jid then error('Job(): no jid provided') end
  if not worker then error('Complete(): Arg "worker" missing') end
  if not queue then error('Complete(): Arg "queue" missing') end
  local kept = known and data == ''
  if not data or not kept and cjson.decode(data) == false then
    error('Complete(): Arg "data" missing or not JSON: ' .. tostring(data))
  end
  local following, delay, names, given, x = nil, 0, nil, nil, nil
  if argv[7] then following, delay, names, given, x = need('ending/complete_options')(argv, 7, #argv) end
  local key = 'ql:j:' .. jid
  local job = call('hmget', key, 'worker', 'state', 'queue', 'priority', 'retries', 'time', 'history', 'grace', 'scheduled', 'throttles')
  if not job[1] then error('Complete(): Job ' .. jid .. ' does not exist') end
  if job[2] ~= 'running' then
    error('Complete(): Job ' .. jid .. ' is not currently running: ' .. tostring(job[2]))
  end
  if job[1] ~= worker then
    error('Complete(): Job ' .. jid .. ' has been handed out to another worker: ' .. job[1])
  end
  if job[3] ~= queue then
    error('Complete(): Job ' .. jid .. ' running in another queue: ' .. tostring(job[3]))
  end
  if names == false then error('Complete(): Arg "depends" not JSON: ' .. given.depends) end
  local pending = names and names[1] and need('dependency/pending_dependencies')(jid, names)
  local finish
  if job[10] or x then
    finish = need('ending/finish')(now, jid, queue, following, job[10], x)
    if x then pending = finish.join(pending) end
  end
  if job[7] then need('history/migrate')(jid, job[7]) end
  local any, tracked, dependents = call('exists', 'ql:tracked', key .. '-dependents') > 0, false, nil
  if any then
    tracked = call('zscore', 'ql:tracked', jid)
    dependents = redis.pcall('smembers', key .. '-dependents')
  end
  local history = key .. '-history'
  if pending and pending[1] then
    call('llen', history)
    need('dependency/link')(jid, pending)
  end
  local config = known or redis.pcall('hmget', 'ql:config', 'max-job-history', 'jobs-history', 'jobs-history-count')
  local quoted, length = encode(queue), nil
  if following then
    length = call('rpush', history, '[' .. seconds .. ',"done"]',
      '[' .. seconds .. ',"put",{"q":' .. encode(following) .. '}]')
  else
    length = call('rpush', history, '[' .. seconds .. ',"done"]')
  end
  local limit = tonumber(config[1] or 100) or 100
  if length > limit then need('history/trim')(history, length, limit) end
  if call('zrem', 'ql:q:' .. queue .. '-locks', jid) == 0 then
    need('queue/remove_from_state_set')(jid, 'running', queue)
  end
  call('zrem', 'ql:w:' .. worker .. ':jobs', jid)
  local started = tonumber(job[6])
  if not started or started - started ~= 0 then started = now end
  need('stats/add_values')('ql:s:run:' .. now - now % 86400 .. ':' .. queue, {now - started})
  if tracked then call('publish', 'ql:completed', jid) end
  local stamp, retries = string.format('%.20f', now), job[5] or '0'
  if not string.find(retries, '^%d+$') then
    retries = tonumber(retries) or 0
    retries = retries - retries == 0 and need('value/whole_tries')(retries) or 0
  end
  if job[8] then call('hdel', key, 'grace') end
  if following then
    call('publish', 'ql:log', '{"jid":' .. encode(jid) .. ',"to":' .. encode(following) ..
      ',"event":"advanced","queue":' .. quoted .. '}')
    call('zadd', 'ql:queues', 'NX', t, following)
    local base = 'ql:q:' .. following
    local due = delay > 0 and string.format('%.17g', now + delay)
    local state = pending and pending[1] and 'depends' or due and 'scheduled' or 'waiting'
    if kept then data = call('hget', key, 'data') or '{}' end
    call('hmset', key, 'data', data, 'time', stamp, 'state', state, 'worker', '', 'failure', '{}', 'queue', following,
      'expires', '0', 'remaining', retries)
    if state == 'depends' then
      call('zadd', base .. '-depends', t, jid)
      if due then call('hset', key, 'scheduled', due) end
    elseif state == 'scheduled' then
      call('zadd', base .. '-scheduled', due, jid)
    else
      local priority = tonumber(job[4]) or 0
      if priority - priority ~= 0 then priority = 0 end
      call('zadd', base .. '-work', priority - now / 10000000000, jid)
    end
    if job[9] and not (state == 'depends' and due) then call('hdel', key, 'scheduled') end
    if finish then finish.run(data) end
    return state
  end
  call('publish', 'ql:log', '{"jid":' .. encode(jid) .. ',"event":"completed","queue":' .. quoted .. '}')
  if kept then
    call('hmset', key, 'time', stamp, 'state', 'complete', 'worker', '', 'failure', '{}', 'queue', '', 'expires', '0',
      'remaining', retries)
  else
    call('hmset', key, 'data', data, 'time', stamp, 'state', 'complete', 'worker', '', 'failure', '{}', 'queue', '',
      'expires', '0', 'remaining', retries)
  end
  if job[9] then call('hdel', key, 'scheduled') end
  call('zadd', 'ql:completed', t, jid)
  if false then
    need('job/list_complete')(now, t, jid, queue, config[2], config[3])
  end
  if dependents and dependents[1] then need('dependency/release_dependents')(now, jid, dependents) end
  if finish then finish.run(data) end
  local forget = need('job/forget_complete')
  if known then
    pcall(forget, now, config[2], config[3])
  else
    forget(now, config[2], config[3])
  end
  return 'complete'
end
elseif name == 'guard.turn' then
local function whole(text)
  local n = tonumber(text)
  if not n or n % 1 ~= 0 or n < 0 or n > 9e15 then error('Guard(): wrong number: ' .. tostring(text)) end
  return n
end
return function(argv, now, t, seconds)
  local worker = argv[3]
  if not worker then error('Guard(): worker missing') end
  local left, words = math.min(whole(argv[4]), 10000), whole(argv[5])
  if words % 2 ~= 0 or words > 1000 or 5 + words > #argv then
    error('Guard(): wrong number of words: ' .. argv[5])
  end
  local counts, fields = {}, {'max-job-history', 'jobs-history', 'jobs-history-count', 'heartbeat', 'grace-period'}
  for i = 7, 5 + words, 2 do
    counts[#counts + 1] = whole(argv[i])
    fields[#fields + 1] = argv[i - 1] .. '-heartbeat'
    fields[#fields + 1] = argv[i - 1] .. '-max-concurrency'
    fields[#fields + 1] = argv[i - 1] .. '-defaults'
  end
  local config = redis.pcall('hmget', 'ql:config', unpack(fields))
  local rows = need('ending/end_jobs')(now, t, seconds, worker, argv, 6 + words, config[1], config[2], config[3])
  local ended, pop = #rows, counts[1] and need('pop', true)
  local known = {false, config[4], false, config[5], config[1], listed = false, slice = need('queue/slice')()}
  for i = 1, #counts do
    local reply, taken = '{}', 0
    local count = math.min(left, counts[i])
    if count > 0 then
      known[1], known[3], known[6] = config[3 + 3 * i], config[4 + 3 * i], config[5 + 3 * i]
      local ok
      ok, reply, taken = pcall(pop, {'pop', t, argv[4 + 2 * i], worker, count}, now, t, seconds, known)
      if not ok then
        if ended == 0 and i == 1 then error(reply, 0) end
        reply, taken = {'invalid', need('value/error_text')(reply)}, 0
      end
    end
    rows[ended + i], left = reply, left - (taken or 0)
  end
  local due
  for i = 1, left > 0 and #counts or 0 do
    local at = need('queue/next_due')(now, argv[4 + 2 * i], '(' .. t)
    if at and at > now and (not due or at < due) then due = at end
  end
  if due then rows[#rows + 1] = string.format('%.3f', due - now + 0.001) end
  return rows
end
elseif name == 'guard.finish' then
return function(argv, now, t, seconds)
  local worker = argv[3]
  if not worker then error('Guard(): worker missing') end
  local config = redis.pcall('hmget', 'ql:config', 'max-job-history', 'jobs-history', 'jobs-history-count')
  return need('ending/end_jobs')(now, t, seconds, worker, argv, 4, config[1], config[2], config[3])
end
elseif name == 'guard.heartbeat' then
return function(argv, now, t)
  local call, worker, count = redis.call, argv[3], #argv - 3
  if not worker then error('Guard(): worker missing') end
  if count % 2 ~= 0 then error('Guard(): a jid has no data beside it') end
  if count > 1000 then error('Guard(): more than 500 jobs') end
  local rows, jobs, config, fields = {}, {}, {}, {'heartbeat'}
  local progress = {}
  local fault = need('value/key_fault')(progress)
  for i = 4, #argv, 2 do
    local key = 'ql:j:' .. argv[i]
    local job = redis.pcall('hmget', key, 'state', 'worker', 'queue', 'grace')
    jobs[i] = job
    local queue = job[3] or ''
    if not job.err and not config[queue] then
      fields[#fields + 1] = queue .. '-heartbeat'
      config[queue] = #fields
    end
  end
  local function setting(text)
    local n = text and tonumber(text)
    return n and n - n == 0 and n
  end
  local settings = redis.pcall('hmget', 'ql:config', unpack(fields))
  local held, locks = {}, {}
  for i = 4, #argv, 2 do
    local jid, data, job, row = argv[i], argv[i + 1], jobs[i], nil
    local key, queue = 'ql:j:' .. jid, job[3] or ''
    if data ~= '' then
      local ok, value = pcall(cjson.decode, data)
      if not ok then
        row = {'invalid', need('value/error_text')(value)}
      elseif value == false then
        data = ''
      elseif string.find(data, '\0', 1, true) then
        data = cjson.encode(value)
      end
    end
    if row then
    elseif job.err then
      row = {'invalid', need('value/wrong_type')(job, progress.wrote, 'hash', key, 'hget', key, 'jid')}
    elseif not job[2] then
      row = {'gone'}
    elseif job[1] ~= 'running' or job[2] ~= worker or worker == '' then
      row = {'not_holder', job[1] or '', job[2]}
    else
      local base = 'ql:q:' .. queue
      local bad = fault('zset', base .. '-locks', 'zset', 'ql:w:' .. worker .. ':jobs', 'zset', 'ql:workers')
      if bad then
        row = {'invalid', bad}
      else
        local ends = now + (setting(settings[config[queue]]) or setting(settings[1]) or 60)
        local expires = string.format('%.17g', ends)
        if data ~= '' then
          call('hmset', key, 'expires', expires, 'worker', worker, 'data', data)
        else
          call('hmset', key, 'expires', expires, 'worker', worker)
        end
        progress.wrote = true
        if job[4] then call('hdel', key, 'grace') end
        local list = locks[base]
        if not list then
          list = {}
          locks[base] = list
        end
        list[#list + 1], list[#list + 2] = expires, jid
        held[#held + 1], held[#held + 2] = expires, jid
        row = {'done', expires}
      end
    end
    rows[i / 2 - 1] = row
  end
  if held[1] then
    local in_chunks = need('value/in_chunks')
    in_chunks('zadd', 'ql:w:' .. worker .. ':jobs', held, 1, #held)
    call('zadd', 'ql:workers', t, worker)
    for base, list in pairs(locks) do in_chunks('zadd', base .. '-locks', list, 1, #list) end
  end
  return rows
end
elseif name == 'config.get' then
return function(argv)
  local key = argv[3]
  local value = key and redis.call('hget', 'ql:config', key)
  if value then return value end
  if key == 'heartbeat' then return 60 end
  local all = need('value/defaults')()
  if key then return all[key] end
  local stored = redis.call('hgetall', 'ql:config')
  for i = 1, #stored, 2 do all[stored[i]] = stored[i + 1] end
  return cjson.encode(all)
end, true
elseif name == 'fail' then
return function(argv, now, t, seconds)
  local call = redis.call
  local jid, worker, group, message, data = argv[3], argv[4], argv[5], argv[6], argv[7]
  if not jid then error('Job(): no jid provided') end
  if not worker then error('Fail(): Arg "worker" missing') end
  if not group then error('Fail(): Arg "group" missing') end
  if not message then error('Fail(): Arg "message" missing') end
  if data then
    local value = cjson.decode(data)
    if value == false then
      data = nil
    elseif string.find(data, '\0', 1, true) then
      data = cjson.encode(value)
    end
  end
  local key = 'ql:j:' .. jid
  local job = call('hmget', key, 'state', 'worker', 'queue', 'history', 'grace', 'throttles')
  local queue = job[3] or ''
  if not job[1] and not job[2] then error('Fail(): Job ' .. jid .. 'does not exist') end
  if job[1] ~= 'running' then
    error('Fail(): Job ' .. jid .. 'not currently running: ' .. tostring(job[1]))
  end
  if job[2] ~= worker then
    error('Fail(): Job ' .. jid .. ' running with another worker: ' .. tostring(job[2]))
  end
  local config = redis.pcall('hmget', 'ql:config', 'max-job-history', 'jobs-failed-history')
  local age, fault
  if config[2] or false then age, fault = need('failure/age')(config[2]) end
  if fault then error('Fail(): ' .. fault) end
  local g, w, m = cjson.encode(group), cjson.encode(worker), cjson.encode(message)
  if job[4] then need('history/migrate')(jid, job[4]) end
  local limit = tonumber(config[1] or 100) or 100
  need('history/append')(jid, '[' .. seconds .. ',"failed",{"group":' .. g .. ',"worker":' .. w .. '}]', limit)
  call('publish', 'ql:log', '{"message":' .. m .. ',"jid":' .. cjson.encode(jid) .. ',"group":' .. g ..
    ',"event":"failed","worker":' .. w .. '}')
  if call('zscore', 'ql:tracked', jid) then call('publish', 'ql:failed', jid) end
  call('zrem', 'ql:w:' .. worker .. ':jobs', jid)
  if call('zrem', 'ql:q:' .. queue .. '-locks', jid) == 0 then
    need('queue/remove_from_state_set')(jid, 'running', queue)
  end
  local failure = '{"group":' .. g .. ',"message":' .. m .. ',"when":' .. seconds .. ',"worker":' .. w .. '}'
  if data then
    call('hmset', key, 'state', 'failed', 'worker', '', 'expires', '', 'failure', failure, 'data', data)
  else
    call('hmset', key, 'state', 'failed', 'worker', '', 'expires', '', 'failure', failure)
  end
  if job[5] then call('hdel', key, 'grace') end
  need('failure/enter')(now, jid, group, queue)
  if job[6] then
    need('ending/extended')(now, t, seconds, jid, 'fail', queue, job[6])
  end
  if age then need('failure/forget_old')(now, t, {jid}, age) end
  return jid
end
elseif name == 'retry' then
return function(argv, now, t, seconds)
  local call = redis.call
  local jid, queue, worker, group, message = argv[3], argv[4], argv[5], argv[7], argv[8]
  if not jid then error('Job(): no jid provided') end
  if not queue then error('Retry(): Arg "queue" missing') end
  if not worker then error('Retry(): Arg "worker" missing') end
  local delay = tonumber(argv[6] or 0)
  if not delay or delay - delay ~= 0 then error('Retry(): Arg "delay" not a number: ' .. argv[6]) end
  local key = 'ql:j:' .. jid
  local job = call('hmget', key, 'state', 'worker', 'queue', 'priority', 'remaining', 'retries', 'grace', 'throttles')
  if not job[1] and not job[2] then error('Retry(): Job ' .. jid .. ' does not exist') end
  if job[1] ~= 'running' then
    error('Retry(): Job ' .. jid .. ' is not currently running: ' .. tostring(job[1]))
  end
  if job[2] ~= worker then
    error('Retry(): Job ' .. jid .. ' has been given to another worker: ' .. tostring(job[2]))
  end
  local left = tonumber(job[5]) or tonumber(job[6]) or 0
  if left - left ~= 0 then left = 0 end
  left = (left < 9e15 and math.floor(left) or need('value/whole_tries')(left)) - 1
  if job[8] and delay <= 0 and left >= 0 then
    delay = need('option/delay')(call('hget', key, 'backoff'), jid, job[6], left, now)
  end
  local home, named = job[3] or queue, group and message
  local failure, age
  local function unlock()
    if call('zrem', 'ql:q:' .. home .. '-locks', jid) == 0 then
      need('queue/remove_from_state_set')(jid, 'running', home)
    end
  end
  if named then failure = need('failure/encode')(group, message, seconds, worker) end
  if left < 0 then
    group = group or 'failed-retries-' .. queue
    if not named then
      failure = need('failure/encode')(group, 'Job exhausted retries in queue "' .. home .. '"', seconds, '')
    end
    local config = redis.pcall('hmget', 'ql:config', 'max-job-history', 'jobs-failed-history')
    local fault
    age, fault = need('failure/age')(config[2])
    if fault then error('Retry(): ' .. fault) end
    local legacy, limit = call('hget', key, 'history'), tonumber(config[1] or 100) or 100
    if legacy then need('history/migrate')(jid, legacy) end
    need('history/append')(jid, '[' .. seconds .. ',"failed",{"group":' .. cjson.encode(group) .. '}]', limit)
    call('hmset', key, 'remaining', left, 'state', 'failed', 'worker', '', 'expires', '', 'failure', failure,
      'queue', queue)
    unlock()
    need('failure/enter')(now, jid, group, queue)
    if call('zscore', 'ql:tracked', jid) then call('publish', 'ql:failed', jid) end
  else
    local state = delay > 0 and 'scheduled' or 'waiting'
    if failure then
      call('hmset', key, 'remaining', left, 'state', state, 'failure', failure)
    else
      call('hmset', key, 'remaining', left, 'state', state)
    end
    if home ~= queue then call('hset', key, 'queue', queue) end
    unlock()
    if delay > 0 then
      call('zadd', 'ql:q:' .. queue .. '-scheduled', now + delay, jid)
    else
      local priority = tonumber(job[4]) or 0
      if priority - priority ~= 0 then priority = 0 end
      call('zadd', 'ql:q:' .. queue .. '-work', priority - now / 10000000000, jid)
    end
  end
  call('zadd', 'ql:queues', 'NX', t, queue)
  if job[7] then call('hdel', key, 'grace') end
  call('zrem', 'ql:w:' .. worker .. ':jobs', jid)
  if job[8] then
    need('ending/extended')(now, t, seconds, jid, left < 0 and 'exhausted' or 'retry', queue, job[8])
  end
  if age then need('failure/forget_old')(now, t, {jid}, age) end
  return left
end
elseif name == 'get' then
return function(argv)
  local jid = argv[3]
  if not jid then error('Job(): no jid provided') end
  local job = need('job/read')(jid, 'shown')
  if not job[1] then return nil end
  local key = 'ql:j:' .. jid
  local any = redis.call('exists', 'ql:tracked', key .. '-dependents', key .. '-dependencies') > 0
  return need('job/render')(jid, job, any and redis.call('zscore', 'ql:tracked', jid), any, '')
end, true
elseif name == 'length' then
return function(argv)
  local queue = argv[3]
  if not queue then error('Queue(): no queue name provided') end
  local call, base = redis.call, 'ql:q:' .. queue
  return call('zcard', base .. '-locks') + call('zcard', base .. '-work') + call('zcard', base .. '-scheduled')
end, true
elseif name == 'queues' then
local call = redis.call
local function counts(now, t, queue, paused, slice, promote_all)
  local base = 'ql:q:' .. queue
  local stalled = call('zcount', base .. '-locks', 0, t)
  local recurring, held = 0, 0
  if call('exists', base .. '-recur', base .. '-throttled') > 0 then
    recurring, held = call('zcard', base .. '-recur'), call('zcard', base .. '-throttled')
  end
  local late = promote_all(now, t, queue, slice)
  return '{"name":' .. cjson.encode(queue) .. ',"waiting":' .. call('zcard', base .. '-work') + late ..
    ',"stalled":' ..
    stalled .. ',"running":' .. call('zcard', base .. '-locks') - stalled .. ',"scheduled":' ..
    call('zcard', base .. '-scheduled') - late .. ',"depends":' .. call('zcard', base .. '-depends') ..
    ',"recurring":' .. recurring .. ',"paused":' .. (paused and 'true' or 'false') ..
    (held > 0 and ',"throttled":' .. held .. '}' or '}')
end
return function(argv, now, t)
  local queue, slice, promote_all = argv[3], need('queue/slice')(), need('queue/promote_all')
  if queue then
    local paused = call('sismember', 'ql:paused_queues', queue) == 1 and need('queue/paused')(now, queue)
    return counts(now, t, queue, paused, slice, promote_all)
  end
  local names, paused, parts = call('zrange', 'ql:queues', 0, -1), {}, {}
  if not names[1] then return '{}' end
  local listed = call('smembers', 'ql:paused_queues')
  local still_paused = listed[1] and call('exists', 'ql:pauses') == 1 and need('queue/paused')
  for _, name in ipairs(listed) do paused[name] = not still_paused or still_paused(now, name) end
  for i = 1, #names do parts[i] = counts(now, t, names[i], paused[names[i]], slice, promote_all) end
  return '[' .. table.concat(parts, ',') .. ']'
end
elseif name == 'cancel' then
return function(argv, now)
  local call = redis.call
  if argv[10003] then error('Cancel(): more than 10000 jids') end
  local jids, count = {}, #argv - 2
  for i = 1, count do jids[i] = argv[i + 2] end
  local related, tracked
  if count == 1 then
    local key = 'ql:j:' .. jids[1]
    related = call('exists', key .. '-dependents', key .. '-dependencies', 'ql:tracked') > 0
    tracked = related
  else
    related = need('dependency/any_related')(jids, 1, count)
    tracked = call('exists', 'ql:tracked') == 1
  end
  if related then
    local named = {}
    for i = 1, count do named[jids[i]] = true end
    for i = 1, count do
      local jid = jids[i]
      local dependents = call('smembers', 'ql:j:' .. jid .. '-dependents')
      table.sort(dependents)
      for k = 1, #dependents do
        local name = dependents[k]
        local key = 'ql:j:' .. name
        if not named[name] and call('exists', key) == 1 and call('sismember', key .. '-dependencies', jid) == 1
          and not need('lane/precedes')(jid, name) then
          error('Cancel(): ' .. jid .. ' is a dependency of ' .. name .. ' but is not mentioned to be canceled')
        end
      end
    end
  end
  need('job/delete')(now, jids, related, tracked, nil, 50000)
  return jids
end
elseif name == 'multiget' then
return function(argv)
  if argv[10003] then error('Multiget(): more than 10000 jids') end
  return need('job/render_existing')(need('value/args_from')(argv, 3))
end, true
elseif name == 'peek' then
return function(argv, now, t)
  local call = redis.call
  local queue, count = argv[3], tonumber(argv[4])
  if not queue then error('Queue(): no queue name provided') end
  if not count or count - count ~= 0 then
    error('Peek(): Arg "count" missing or not a number: ' .. tostring(argv[4]))
  end
  if count % 1 ~= 0 or count > 9e15 or count < -9e15 then need('value/integer')(count) end
  if call('sismember', 'ql:paused_queues', queue) == 1 then need('queue/paused')(now, queue) end
  if count == 0 then return '{}' end
  if count < 0 or count > 10000 then count = need('queue/most')(t, queue, count) end
  local base = 'ql:q:' .. queue
  local jids = call('zrangebyscore', base .. '-locks', '-inf', t, 'LIMIT', 0, count)
  local rest = count - #jids
  if rest ~= 0 then
    need('queue/due')(now, t, queue, rest, need('queue/slice')())
    local waiting = call('zrevrange', base .. '-work', 0, rest - 1)
    for i = 1, #waiting do jids[#jids + 1] = waiting[i] end
  end
  return need('job/render_existing')(jids)
end
elseif name == 'jobs' then
local function names_queue(word, offset, count)
  if not word or count or word == '' then return word end
  if false then return not offset or not tonumber(word) end
  return not tonumber(word) and redis.call('exists', 'ql:q:' .. word .. '-completed') == 1
end
return function(argv, now, t)
  local call = redis.call
  local state, queue, offset, count = argv[3], argv[4], argv[5], argv[6]
  if not state then error('Jobs(): Arg "state" missing') end
  if state == 'complete' then
    if not names_queue(queue, offset, count) then queue, offset, count = '', queue, offset end
  elseif not queue then
    error('Jobs(): Arg "queue" missing')
  end
  local from, most = tonumber(offset or 0), tonumber(count or 25)
  if not from then error('Jobs(): Arg "offset" not a number: ' .. offset) end
  if not most then error('Jobs(): Arg "count" not a number: ' .. count) end
  if state == 'complete' and queue == '' then return call('zrevrange', 'ql:completed', from, from + most - 1) end
  local base = 'ql:q:' .. queue
  if state == 'complete' or state == 'waiting' then
    if most == 0 then return {} end
    return call('zrevrange', base .. (state == 'waiting' and '-work' or '-completed'), from, from + most - 1)
  elseif state == 'running' then
    return call('zrangebyscore', base .. '-locks', t, '+inf', 'LIMIT', from, most)
  elseif state == 'stalled' then
    return call('zrangebyscore', base .. '-locks', '-inf', t, 'LIMIT', from, most)
  elseif state == 'depends' then
    return call('zrange', base .. '-depends', from, from + most - 1)
  elseif state == 'throttled' then
    return call('zrange', base .. '-throttled', from, from + most - 1)
  elseif state == 'recurring' then
    return call('zrangebyscore', base .. '-recur', 0, '+inf', 'LIMIT', from, most)
  elseif state == 'scheduled' then
    need('value/integer')(from)
    need('value/integer')(from + most)
    if from == 0 and 1 / from < 0 then call('zrange', 'ql:queues', from, from) end
    local late = need('queue/promote_all')(now, t, queue, need('queue/slice')())
    if from >= 0 then from = from + late end
    return call('zrange', base .. '-scheduled', from, from + most - 1)
  end
  error('Jobs(): Unknown type "' .. state .. '"')
end
elseif name == 'failed' then
return function(argv)
  local call = redis.call
  local group = argv[3]
  local start, limit = tonumber(argv[4] or 0), tonumber(argv[5] or 25)
  if not start then error('Failed(): Arg "start" is not a number: ' .. argv[4]) end
  if not limit then error('Failed(): Arg "limit" is not a number: ' .. argv[5]) end
  if group then
    local key = 'ql:f:' .. group
    return '{"total":' .. call('llen', key) .. ',"jobs":' ..
      cjson.encode(call('lrange', key, start, start + limit - 1)) .. '}'
  end
  local groups, parts = call('smembers', 'ql:failures'), {}
  for i = 1, #groups do
    parts[i] = cjson.encode(groups[i]) .. ':' .. call('llen', 'ql:f:' .. groups[i])
  end
  return '{' .. table.concat(parts, ',') .. '}'
end, true
elseif name == 'workers' then
local function position(name, text, default)
  local n = tonumber(text or default)
  if not n then error('Workers(): Arg "' .. name .. '" not a number: ' .. text) end
  need('value/integer')(n)
  return n
end
return function(argv, now, t)
  local call = redis.call
  local worker, first, last = argv[3], 0, -1
  if worker == '' and (argv[4] or false) then
    worker, first, last = nil, position('start', argv[4], 0), position('last', argv[5], -1)
  end
  local age = tonumber(redis.pcall('hget', 'ql:config', 'max-worker-age'))
  if not age or age - age ~= 0 then age = 86400 end
  local gone = call('zrangebyscore', 'ql:workers', 0, now - age)
  if gone[1] then
    for i = 1, #gone do call('del', 'ql:w:' .. gone[i] .. ':jobs') end
    need('value/in_chunks')('zrem', 'ql:workers', gone, 1, #gone)
  end
  local horizon = string.format('%.17g', now + 8640000)
  if worker then
    local held = 'ql:w:' .. worker .. ':jobs'
    return '{"stalled":' .. cjson.encode(call('zrevrangebyscore', held, t, 0)) .. ',"jobs":' ..
      cjson.encode(call('zrevrangebyscore', held, horizon, t)) .. '}'
  end
  local names, parts = call('zrevrange', 'ql:workers', first, last), {}
  if not names[1] then return '{}' end
  for i = 1, #names do
    local held = 'ql:w:' .. names[i] .. ':jobs'
    parts[i] = '{"stalled":' .. call('zcount', held, 0, t) .. ',"name":' .. cjson.encode(names[i]) .. ',"jobs":' ..
      call('zcount', held, t, horizon) .. '}'
  end
  return '[' .. table.concat(parts, ',') .. ']'
end
elseif name == 'timeout' then
return function(argv, now, t, seconds)
  local call = redis.call
  if argv[10003] then error('Timeout(): more than 10000 jids') end
  local jobs = {}
  for i = 3, #argv do
    local jid = argv[i]
    local job = call('hmget', 'ql:j:' .. jid, 'state', 'queue', 'worker', 'history', 'grace', 'throttles')
    if not job[1] and not job[2] then error('Timeout(): Job ' .. jid .. ' does not exist') end
    if job[1] ~= 'running' or jobs[jid] then error('Timeout(): Job ' .. jid .. ' not running') end
    jobs[jid] = job
  end
  local entry, limit, lock_lost = '[' .. seconds .. ',"timed-out"]', nil, need('job/lock_lost')
  for i = 3, #argv do
    local jid, job = argv[i], jobs[argv[i]]
    local key, queue, worker = 'ql:j:' .. jid, job[2] or '', job[3] or ''
    if job[4] then need('history/migrate')(jid, job[4]) end
    local length = call('rpush', key .. '-history', entry)
    if length > 3 then
      limit = limit or tonumber(redis.pcall('hget', 'ql:config', 'max-job-history') or 100) or 100
      if length > limit then need('history/trim')(key .. '-history', length, limit) end
    end
    if call('zrem', 'ql:q:' .. queue .. '-locks', jid) == 0 then
      need('queue/remove_from_state_set')(jid, 'running', queue)
    end
    call('zadd', 'ql:q:' .. queue .. '-work', '+inf', jid)
    call('hmset', key, 'state', 'stalled', 'expires', '0')
    if job[5] then call('hdel', key, 'grace') end
    call('zrem', 'ql:w:' .. worker .. ':jobs', jid)
    lock_lost(jid, worker)
    if job[6] then
      need('ending/extended')(now, t, seconds, jid, 'timeout', queue, job[6])
    end
  end
end
elseif name == 'unfail' then
return function(argv, now, t, seconds)
  local call = redis.call
  local queue, group, count = argv[3], argv[4], tonumber(argv[5] or 25)
  if not queue then error('Queue(): no queue name provided') end
  if not group then error('Unfail(): Arg "group" missing') end
  if not count or count - count ~= 0 then
    error('Unfail(): Arg "count" not a number: ' .. argv[5])
  end
  need('value/integer')(count)
  if argv[6] and count < 0 then error('Unfail(): Arg "count" below 0 with jids: ' .. argv[5]) end
  if count == 0 then return 0 end
  if argv[10006] then error('Unfail(): more than 10000 jids') end
  local list = 'ql:f:' .. group
  if count > 10000 or count < 0 and call('llen', list) + count > 10000 then count = 10000 end
  local jids = argv[6] and need('value/args_from')(argv, 6) or call('lrange', list, -count, -1)
  if not jids[1] then return 0 end
  local limit = tonumber(redis.pcall('hget', 'ql:config', 'max-job-history') or 100) or 100
  local append, whole_tries = need('history/append'), need('value/whole_tries')
  local prefix = '{"group":' .. cjson.encode(group) .. ','
  local entry = '[' .. seconds .. ',"put",{"q":' .. cjson.encode(queue) .. '}]'
  local work, blocked, scores, age, days, whens = {}, {}, {}, now / 10000000000, {}, {}
  local function move(jid, job)
    local key, placed = 'ql:j:' .. jid, 'waiting'
    local lane = job[7] and call('hget', key, 'key')
    if lane then placed = need('lane/unfail')(now, jid, lane, queue) end
    if placed == 'merged' then return end
    if job[6] then need('history/migrate')(jid, job[6]) end
    append(jid, entry, limit)
    local retries = tonumber(job[2])
    call('hmset', key, 'state', placed, 'worker', '', 'expires', '0', 'queue', queue,
      'remaining', retries and retries - retries == 0 and whole_tries(retries) or 5)
    if placed == 'depends' then
      call('zadd', 'ql:q:' .. queue .. '-depends', t, jid)
      blocked[#blocked + 1] = jid
      return
    end
    local score = scores[job[3]]
    if not score then
      local priority = tonumber(job[3]) or 0
      if priority - priority ~= 0 then priority = 0 end
      score = string.format('%.17g', priority - age)
      scores[job[3]] = score
    end
    work[#work + 1] = score
    work[#work + 1] = jid
  end
  local function enter()
    if work[1] then need('value/in_chunks')('zadd', 'ql:q:' .. queue .. '-work', work, 1, #work) end
    if work[1] or blocked[1] then call('zadd', 'ql:queues', 'NX', t, queue) end
  end
  if argv[6] then
    local leaving, decode, failures = {}, need('failure/decode'), {}
    for i = 1, #jids do
      local jid = jids[i]
      local job = #leaving < count and call('hmget', 'ql:j:' .. jid, 'state', 'retries', 'priority', 'failure', 'queue', 'history', 'throttles') or {}
      local text = job[4] or '{}'
      failures[text] = failures[text] or decode(text)
      if job[1] == 'failed' and failures[text].group == group then
        move(jid, job)
        leaving[#leaving + 1] = {jid, text, job[5] or ''}
      end
    end
    enter()
    if leaving[1] then need('failure/leave_many')(leaving) end
    return #leaving
  end
  for i = #jids, 1, -1 do
    local jid = jids[i]
    local job = call('hmget', 'ql:j:' .. jid, 'state', 'retries', 'priority', 'failure', 'queue', 'history', 'throttles')
    if job[1] == 'failed' then
      move(jid, job)
      local text = job[4] or '{}'
      local at = whens[text]
      if not at and string.find(text, prefix, 1, true) == 1 then
        at = tonumber(string.match(text, '"when":(%d+)[,}]'))
        whens[text] = at
      end
      if not at then
        local failure = need('failure/decode')(text)
        local other = failure.group
        at = tonumber(failure.when)
        if type(other) == 'string' and other ~= group then
          call('lrem', 'ql:f:' .. other, 0, jid)
          if call('exists', 'ql:f:' .. other) == 0 then call('srem', 'ql:failures', other) end
        end
      end
      if at and at - at == 0 then
        local of, day = days[job[5]], at - at % 86400
        if not of then
          of = {}
          days[job[5]] = of
        end
        of[day] = (of[day] or 0) + 1
      end
    end
  end
  enter()
  if call('exists', 'ql:failed-jobs-list') == 1 then need('failure/forget_times')(jids) end
  call('ltrim', list, 0, -count - 1)
  local left = #jids < count and 0 or call('llen', list)
  if left > 0 and left <= 1000 then
    local moved, page = {}, call('lrange', list, 0, -1)
    for i = 2, #work, 2 do moved[work[i]] = true end
    for i = 1, #blocked do moved[blocked[i]] = true end
    for i = 1, #page do
      if moved[page[i]] then left = left - call('lrem', list, 0, page[i]) end
    end
  end
  if left == 0 then call('srem', 'ql:failures', group) end
  for from, of in pairs(days) do
    for day, n in pairs(of) do need('failure/uncount')(day, from or '', n) end
  end
  return #jids
end
elseif name == 'priority' then
return function(argv)
  local call = redis.call
  local jid, priority = argv[3], tonumber(argv[4])
  if not jid then error('Job(): no jid provided') end
  if not priority or priority - priority ~= 0 then
    error('Priority(): Arg "priority" missing or not a number: ' .. tostring(argv[4]))
  end
  local key = 'ql:j:' .. jid
  local job = call('hmget', key, 'queue', 'priority', 'state')
  if not job[1] then error('Priority(): Job ' .. jid .. ' does not exist') end
  if job[3] == 'waiting' or job[3] == 'stalled' then
    local before = tonumber(job[2])
    local work = 'ql:q:' .. job[1] .. '-work'
    if before and math.abs(before) < 9e15 and math.abs(priority) < 9e15 then
      call('zadd', work, 'XX', 'INCR', priority - before, jid)
    else
      call('zadd', work, 'XX', priority, jid)
    end
  end
  if job[3] == 'throttled' then need('throttle/reorder')(jid, job[1], job[2], priority) end
  call('hset', key, 'priority', priority)
  return priority
end, true
elseif name == 'log' then
return function(argv, _, _, seconds)
  local jid, message, data = argv[3], argv[4], argv[5]
  if not jid then error("Log(): Argument 'jid' missing") end
  if not message then error("Log(): Argument 'message' missing") end
  local entry = '[' .. seconds .. ',' .. cjson.encode(message)
  if data then
    local value = cjson.decode(data)
    if string.find(data, '\0', 1, true) then data = cjson.encode(value) end
    if value == false then error("Log(): Argument 'data' not cjson: " .. data) end
    if string.byte(data) ~= 123 and not string.find(data, '^%s*{') then data = '{"data":' .. data .. '}' end
    entry = entry .. ',' .. data .. ']'
    cjson.encode(value)
    if #data > 1900 then cjson.decode('[' .. '[' .. entry .. ']' .. ']') end
  else
    entry = entry .. ']'
  end
  local call, key = redis.call, 'ql:j:' .. jid
  local job = call('hmget', key, 'jid', 'history')
  if not job[1] and call('exists', key) == 0 then error('Log(): Job ' .. jid .. ' does not exist') end
  if job[2] then need('history/migrate')(jid, job[2]) end
  local length = call('rpush', key .. '-history', entry)
  local limit = tonumber(redis.pcall('hget', 'ql:config', 'max-job-history') or 100) or 100
  if length > limit then need('history/trim')(key .. '-history', length, limit) end
end
elseif name == 'tag' then
local call = redis.call
local function page(offset, count)
  local from, most = tonumber(offset or 0), tonumber(count or 25)
  if not from then error('Tag(): Arg "offset" not a number: ' .. offset) end
  if not most then error('Tag(): Arg "count" not a number: ' .. count) end
  return from, most
end
return function(argv, _, t)
  local verb = argv[3]
  if not verb then error('Tag(): Arg "command" must be "add", "remove", "get" or "top"') end
  if verb == 'add' or verb == 'remove' then
    local jid = argv[4]
    if not jid then error('Tag(): Arg "jid" missing') end
    if argv[10005] then error('Tag(): more than 10000 tags') end
    local key = 'ql:j:' .. jid
    local stored = call('hget', key, 'tags')
    if not stored and not call('hget', key, 'jid') then error('Tag(): Job ' .. jid .. ' does not exist') end
    local tags, has = need('job/tags')(stored), {}
    for i = 1, #tags do has[tags[i]] = true end
    local left = tags
    if verb == 'add' then
      local words, first = argv, 5
      if false then words, first = need('value/without_blanks')(need('value/args_from')(argv, 5)), 1 end
      local before, given = #tags, {}
      for i = first, #words do
        local tag = words[i]
        if not has[tag] then
          has[tag] = true
          tags[#tags + 1] = tag
        end
        given[#given + 1] = tag
      end
      need('job/few_tags')('Tag', #tags, before)
      for i = 1, #given do
        if call('zadd', 'ql:t:' .. given[i], t, jid) == 1 then call('zincrby', 'ql:tags', 1, given[i]) end
      end
    else
      local gone = need('value/args_from')(argv, 5)
      for i = 1, #gone do has[gone[i]] = nil end
      need('job/untag')(jid, gone)
      left = {}
      for i = 1, #tags do
        if has[tags[i]] then left[#left + 1] = tags[i] end
      end
    end
    local json = cjson.encode(left)
    call('hset', key, 'tags', json)
    return json
  elseif verb == 'get' then
    local tag = argv[4]
    if not tag then error('Tag(): Arg "tag" missing') end
    local from, most = page(argv[5], argv[6])
    local key = 'ql:t:' .. tag
    return '{"total":' .. call('zcard', key) .. ',"jobs":' ..
      cjson.encode(call('zrange', key, from, from + most - 1)) .. '}'
  elseif verb == 'top' then
    local from, most = page(argv[4], argv[5])
    return cjson.encode(call('zrevrangebyscore', 'ql:tags', '+inf', 2, 'LIMIT', from, most))
  end
  error('Tag(): First argument must be "add", "remove" or "get"')
end
elseif name == 'track' then
return function(argv, _, t)
  local call = redis.call
  local verb, jid = argv[3], argv[4]
  if not verb then
    local read = need('job/read')
    local all, jids, jobs, expired, tracked = call('zrange', 'ql:tracked', 0, -1), {}, {}, {}, {}
    for i = 1, #all do
      local job = read(all[i], 'shown')
      if job[1] then
        jids[#jids + 1], jobs[#jobs + 1] = all[i], job
        tracked[all[i]] = true
      else
        expired[#expired + 1] = all[i]
      end
    end
    return '{"jobs":' .. need('job/render_all')(jids, jobs, #jids, tracked) ..
      ',"expired":' .. cjson.encode(expired) .. '}'
  end
  verb = string.lower(verb)
  if not jid then error('Track(): Arg "jid" missing') end
  if call('exists', 'ql:j:' .. jid) == 0 and not (verb == 'untrack' and call('zscore', 'ql:tracked', jid)) then
    error('Track(): Job does not exist')
  end
  if verb == 'track' then
    local new = call('zadd', 'ql:tracked', t, jid)
    call('publish', 'ql:track', jid)
    return tostring(new)
  elseif verb == 'untrack' then
    local gone = call('zrem', 'ql:tracked', jid)
    call('publish', 'ql:untrack', jid)
    return tostring(gone)
  end
  error('Track(): Unknown action "' .. argv[3] .. '"')
end
elseif name == 'stats' then
local call = redis.call
local function number(text)
  local n = tonumber(text)
  return n and n - n == 0 and n or 0
end
local function summary(key)
  local all, fields, places, values = call('hgetall', key), {}, {}, {}
  for i = 1, #all, 2 do
    local unit, digits = string.match(all[i], '^([smhd])(%d+)$')
    local n, place = tonumber(digits), nil
    if unit == 's' and n < 60 then
      place = n
    elseif unit == 'm' and n > 0 and n < 60 then
      place = 59 + n
    elseif unit == 'h' and n > 0 and n < 24 then
      place = 118 + n
    elseif unit == 'd' and n > 0 and n < 7 then
      place = 141 + n
    end
    if place then
      places[#places + 1] = place
      values[place] = number(all[i + 1])
    else
      fields[all[i]] = all[i + 1]
    end
  end
  table.sort(places)
  local parts, last = {}, -1
  for i = 1, #places do
    parts[#parts + 1] = string.rep('0,', places[i] - last - 1) .. values[places[i]] .. ','
    last = places[i]
  end
  local count = number(fields.total)
  local deviation = count > 1 and math.sqrt(math.max(0, number(fields.vk)) / (count - 1)) or 0
  local slots = table.concat(parts) .. string.rep('0,', 147 - last)
  return '{"count":' .. count .. ',"mean":' .. number(fields.mean) .. ',"std":' .. deviation ..
    ',"histogram":[' .. string.sub(slots, 1, -2) .. ']}'
end
return function(argv)
  local queue, date = argv[3], tonumber(argv[4])
  if not queue then error('Queue(): no queue name provided') end
  if not date or date - date ~= 0 then
    error('Stats(): Arg "date" missing or not a number: ' .. tostring(argv[4]))
  end
  local day = date - date % 86400 .. ':' .. queue
  local counts = call('hmget', 'ql:s:stats:' .. day, 'retries', 'failed', 'failures')
  return '{"retries":' .. number(counts[1]) .. ',"failed":' .. number(counts[2]) ..
    ',"failures":' .. number(counts[3]) ..
    ',"wait":' .. summary('ql:s:wait:' .. day) .. ',"run":' .. summary('ql:s:run:' .. day) .. '}'
end, true
elseif name == 'depends' then
return function(argv, now)
  local call = redis.call
  local jid, verb = argv[3], argv[4]
  if not jid then error('Job(): no jid provided') end
  if not verb then error('Depends(): Arg "command" missing') end
  if argv[20005] then error('Depends(): more than 20000 jids') end
  local key = 'ql:j:' .. jid
  local job = call('hmget', key, 'state', 'queue', 'priority', 'scheduled', 'throttles')
  if job[1] ~= 'depends' then
    error('Depends(): Job ' .. jid .. ' not in the depends state: ' .. tostring(job[1]))
  end
  if verb == 'on' then
    need('dependency/link')(jid, need('dependency/pending_dependencies')(jid, need('value/args_from')(argv, 5)))
  elseif verb == 'off' then
    local unlink, lane = need('dependency/unlink'), job[5] and call('hget', key, 'key')
    local precedes = lane and need('lane/precedes')
    if argv[5] == 'all' then
      local names = call('smembers', key .. '-dependencies')
      if precedes then
        local others = {}
        for i = 1, #names do
          if not precedes(names[i], jid) then others[#others + 1] = names[i] end
        end
        names = others
      end
      unlink(jid, names)
    else
      for i = 5, precedes and #argv or 0 do
        if precedes(argv[i], jid) then
          error('Depends(): ' .. argv[i] .. ' precedes ' .. jid .. ' in lane ' .. lane)
        end
      end
      unlink(jid, need('value/args_from')(argv, 5))
    end
    if argv[5] and call('exists', key .. '-dependencies') == 0 then
      need('dependency/release_job')(now, jid, job[2] or '', job[3], job[4], true)
    end
  else
    error('Depends(): Argument "command" must be "on" or "off"')
  end
  return 1
end
elseif name == 'requeue' then
return function(argv, now, t, seconds)
  local jid = argv[5]
  if not jid then error('Job(): no jid provided') end
  if redis.call('exists', 'ql:j:' .. jid) == 0 then error('Requeue(): Job ' .. jid .. ' does not exist') end
  return need('put', true)(argv, now, t, seconds)
end
elseif name == 'config.set' then
return function(argv)
  local key, value = argv[3], argv[4]
  if not key then error('config.set(): Arg "option" missing') end
  if not value then error('config.set(): Arg "value" missing') end
  redis.call('hset', 'ql:config', key, value)
  redis.call('publish', 'ql:log', '{"option":' .. cjson.encode(key) .. ',"event":"config_set","value":' ..
    cjson.encode(value) .. '}')
end, true
elseif name == 'config.unset' then
return function(argv)
  local key = argv[3]
  if not key then error('config.unset(): Arg "option" missing') end
  redis.call('hdel', 'ql:config', key)
  redis.call('publish', 'ql:log', '{"event":"config_unset","option":' .. cjson.encode(key) .. '}')
end, true
elseif name == 'pause' then
return function(argv)
  local queues = need('value/args_from')(argv, 3)
  if not queues[1] then redis.call('sadd', 'ql:paused_queues') end
  local in_chunks = need('value/in_chunks')
  in_chunks('sadd', 'ql:paused_queues', queues, 1, #queues)
  in_chunks('hdel', 'ql:pauses', queues, 1, #queues)
end, true
elseif name == 'unpause' then
return function(argv)
  local queues = need('value/args_from')(argv, 3)
  if not queues[1] then redis.call('srem', 'ql:paused_queues') end
  local in_chunks = need('value/in_chunks')
  in_chunks('srem', 'ql:paused_queues', queues, 1, #queues)
  in_chunks('hdel', 'ql:pauses', queues, 1, #queues)
end, true
elseif name == 'recur' then
return function(argv, now, t)
  local call = redis.call
  local queue, jid, klass, data, spec = argv[3], argv[4], argv[5], argv[6], argv[7]
  if not queue then error('Queue(): no queue name provided') end
  if not jid then error('RecurringJob On(): Arg "jid" missing') end
  if not klass then error('RecurringJob On(): Arg "klass" missing') end
  if not spec then error('RecurringJob On(): Arg "spec" missing') end
  if not data or cjson.decode(data) == false then
    error('RecurringJob On(): Arg "data" not JSON: ' .. tostring(data))
  end
  if spec ~= 'interval' then error('Recur(): schedule type "' .. spec .. '" unknown') end
  local number = need('value/number')
  local interval, offset = number(argv[8]), number(argv[9])
  if not interval then error('Recur(): Arg "interval" not a number: ' .. tostring(argv[8])) end
  if not offset then error('Recur(): Arg "offset" not a number: ' .. tostring(argv[9])) end
  if interval <= 0 then error('Recur(): Arg "interval" must be greater than 0') end
  local given = {}
  if #argv % 2 == 0 then error('Odd number of additional args: ' .. tostring(given)) end
  for i = 10, #argv, 2 do given[argv[i]] = argv[i + 1] end
  local tags = {}
  if given.tags then
    tags = need('value/names')(given.tags, 'all', 1000)
    if not tags then error('Recur(): Arg "tags" must be JSON string array: ' .. given.tags) end
    need('job/few_tags')('Recur', #tags)
    if false then tags = need('value/without_blanks')(tags) end
  end
  local priority, retries = number(given.priority or 0), number(given.retries or 0)
  local backlog = number(given.backlog or 0)
  if not priority then error('Recur(): Arg "priority" not a number: ' .. given.priority) end
  if not retries then error('Recur(): Arg "retries" not a number: ' .. given.retries) end
  if not backlog then error('Recur(): Arg "backlog" not a number: ' .. given.backlog) end
  local opts = need('option/given')(given) and need('option/stored')(given, {}, 'Recur')
  local key = 'ql:r:' .. jid
  local old = call('hmget', key, 'queue', 'count', 'opts')
  if old[1] then call('zrem', 'ql:q:' .. old[1] .. '-recur', jid) end
  call('hmset', key, 'jid', jid, 'klass', klass, 'data', data, 'priority', priority, 'tags', cjson.encode(tags),
    'state', 'recur', 'queue', queue, 'type', 'interval', 'count', old[2] or 0, 'interval', interval,
    'retries', retries, 'backlog', backlog)
  if opts then call('hset', key, 'opts', opts) elseif old[3] then call('hdel', key, 'opts') end
  call('zadd', 'ql:q:' .. queue .. '-recur', now + offset, jid)
  call('zadd', 'ql:queues', 'NX', t, queue)
  return jid
end
elseif name == 'unrecur' then
return function(argv)
  local call, jid = redis.call, argv[3]
  if not jid then error('Recurring(): no jid provided') end
  local queue = call('hget', 'ql:r:' .. jid, 'queue')
  if queue then call('zrem', 'ql:q:' .. queue .. '-recur', jid) end
  call('del', 'ql:r:' .. jid)
  return 1
end, true
elseif name == 'recur.get' then
return function(argv)
  local jid = argv[3]
  if not jid then error('Recurring(): no jid provided') end
  local r = redis.call('hmget', 'ql:r:' .. jid, 'jid', 'klass', 'queue', 'priority', 'interval', 'retries', 'count', 'data', 'tags', 'backlog', 'opts')
  if not r[1] then return nil end
  local function number(text)
    local n = tonumber(text)
    return n and n - n == 0 and n or 0
  end
  return cjson.encode({
    jid = jid,
    klass = r[2],
    state = 'recur',
    queue = r[3],
    priority = number(r[4]),
    interval = number(r[5]),
    retries = number(r[6]),
    count = number(r[7]),
    data = r[8],
    tags = need('job/tags')(r[9]),
    backlog = number(r[10]),
    opts = r[11] and r[11] ~= '{}' and need('recurring/opts')(r[11]) or nil,
  })
end, true
elseif name == 'recur.update' then
return function(argv, _, t)
  local call, jid = redis.call, argv[3]
  if not jid then error('Recurring(): no jid provided') end
  local key = 'ql:r:' .. jid
  local old = call('hmget', key, 'jid', 'queue', 'interval', 'opts')
  if not old[1] and not old[2] then error('Recur(): No recurring job ' .. jid) end
  local number = need('value/number')
  local write, given, changed = {}, {}, false
  for i = 4, #argv, 2 do
    local name, value = argv[i], argv[i + 1]
    if not value then error('No value provided for ' .. name) end
    if name == 'priority' or name == 'interval' or name == 'retries' then
      local n = number(value)
      if not n then error('Recur(): Arg "' .. name .. '" must be a number: ' .. value) end
      if name == 'interval' and n <= 0 then error('Recur(): Arg "interval" must be greater than 0') end
      value = n
    elseif name == 'data' then
      if cjson.decode(value) == false then error('Recur(): Arg "data" is not JSON-encoded: ' .. value) end
    elseif name == 'backlog' then
      local n = number(value)
      if not n then error('Recur(): Arg "backlog" not a number: ' .. value) end
      value = n
    elseif need('option/given')({[name] = value}) then
      given[name], changed = value, true
    elseif name ~= 'klass' and name ~= 'queue' then
      error('Recur(): Unrecognized option "' .. name .. '"')
    end
    if not given[name] then write[#write + 1], write[#write + 2] = name, value end
  end
  if changed then
    local ok, stored = pcall(cjson.decode, old[4] or '{}')
    write[#write + 1] = 'opts'
    write[#write + 1] = need('option/stored')(given, ok and type(stored) == 'table' and stored or {}, 'Recur')
  end
  local queue, interval = old[2] or '', tonumber(old[3])
  for i = 1, #write, 2 do
    local name, value = write[i], write[i + 1]
    if name == 'interval' then
      if interval and interval - interval == 0 then
        call('zadd', 'ql:q:' .. queue .. '-recur', 'XX', 'INCR', value - interval, jid)
      end
      interval = value
    elseif name == 'queue' then
      local score = call('zscore', 'ql:q:' .. queue .. '-recur', jid)
      if score then
        call('zrem', 'ql:q:' .. queue .. '-recur', jid)
        call('zadd', 'ql:q:' .. value .. '-recur', score, jid)
      end
      call('zadd', 'ql:queues', 'NX', t, value)
      queue = value
    end
    call('hset', key, name, value)
  end
  return 1
end
elseif name == 'recur.tag' then
return function(argv)
  local jid = argv[3]
  if not jid then error('Recurring(): no jid provided') end
  local key = 'ql:r:' .. jid
  local stored = redis.call('hmget', key, 'tags', 'jid')
  if not stored[1] and not stored[2] then error('Tag(): Job ' .. jid .. ' does not exist') end
  local tags, has = need('job/tags')(stored[1]), {}
  local before = #tags
  for i = 1, #tags do has[tags[i]] = true end
  local words = need('value/args_from')(argv, 4)
  if false then words = need('value/without_blanks')(words) end
  for i = 1, #words do
    if not has[words[i]] then tags[#tags + 1] = words[i] end
    has[words[i]] = true
  end
  need('job/few_tags')('Tag', #tags, before)
  local json = cjson.encode(tags)
  redis.call('hset', key, 'tags', json)
  return json
end, true
elseif name == 'recur.untag' then
return function(argv)
  local jid = argv[3]
  if not jid then error('Recurring(): no jid provided') end
  local key = 'ql:r:' .. jid
  local stored = redis.call('hmget', key, 'tags', 'jid')
  if not stored[1] and not stored[2] then error('Untag(): Job ' .. jid .. ' does not exist') end
  local drop = {}
  for i = 4, #argv do drop[argv[i]] = true end
  local json = cjson.encode(need('value/without')(need('job/tags')(stored[1]), drop))
  redis.call('hset', key, 'tags', json)
  return json
end, true
elseif name == 'queue.forget' then
return function(argv)
  local queues = need('value/args_from')(argv, 3)
  if not queues[1] then redis.call('zrem', 'ql:queues') end
  need('value/in_chunks')('zrem', 'ql:queues', queues, 1, #queues)
end, true
elseif name == 'worker.deregister' then
return function(argv)
  local workers = need('value/args_from')(argv, 3)
  if not workers[1] then redis.call('zrem', 'ql:workers') end
  local removed = need('value/in_chunks')('zrem', 'ql:workers', workers, 1, #workers)
  if false then return removed end
end, true
elseif name == 'popByJid' then
local none = '[{}]'
return function(argv, now, t, seconds)
  local call = redis.call
  local queue, jid, worker = argv[3], argv[4], argv[5]
  if not queue then error('Queue(): no queue name provided') end
  if not jid then error('Pop(): Arg "jid" missing') end
  if not worker then error('Pop(): Arg "worker" missing') end
  local base = 'ql:q:' .. queue
  if call('sismember', 'ql:paused_queues', queue) == 1 and need('queue/paused')(now, queue, true) then return none end
  local job = need('job/read')(jid)
  local state, due = job[3], nil
  if not job[1] or job[4] ~= queue then return none end
  if not call('zscore', base .. '-work', jid) then
    due = tonumber(call('zscore', base .. '-scheduled', jid) or nil)
    if not due or due < 0 or due > now then return none end
  end
  if state ~= 'waiting' and state ~= (due and 'scheduled' or 'stalled') then return none end
  local known = redis.pcall('hmget', 'ql:config', queue .. '-heartbeat', 'heartbeat', queue .. '-max-concurrency',
    'grace-period', 'max-job-history', queue .. '-defaults')
  local limit = need('value/number')(known[3])
  if limit and limit >= 1 and call('zcount', base .. '-locks', t, '+inf') >= math.floor(limit) then return none end
  if not need('queue/may_grant')(now, queue, jid, job, known[6]) then return none end
  if due then need('queue/promote')(now, queue, {jid}) end
  known.only = jid
  local reply = need('pop', true)({'pop', t, queue, worker, '1'}, now, t, seconds, known)
  return reply == '{}' and none or reply
end
elseif name == 'workersCount' then
return function()
  return redis.call('zcard', 'ql:workers')
end, true
elseif name == 'workerJobs' then
return function(argv)
  local worker, from = argv[3], argv[4]
  if not worker then return 'null' end
  local first = need('value/number')(from)
  if from and from ~= '' and not first then error('WorkerJobs(): Arg "from" not a number: ' .. from) end
  first = first and string.format('%.17g', first) or '-inf'
  return cjson.encode(redis.call('zrangebyscore', 'ql:w:' .. worker .. ':jobs', first, '+inf'))
end, true
elseif name == 'tracked' then
return function()
  return cjson.encode(redis.call('zrange', 'ql:tracked', 0, -1))
end, true
elseif name == 'tags' then
return function(argv)
  local from, most = tonumber(argv[3] or 0), tonumber(argv[4] or 25)
  if not from then error('Tags(): Arg "offset" not a number: ' .. argv[3]) end
  if not most then error('Tags(): Arg "count" not a number: ' .. argv[4]) end
  return cjson.encode(redis.call('zrevrangebyscore', 'ql:tags', '+inf', '(0', 'LIMIT', from, most))
end, true
elseif name == 'subscription' then
return function(argv, now, t)
  local encode, queue, verb, topic = cjson.encode, argv[3], argv[4], argv[5]
  if not queue then error('Subscription(): Arg "queue" missing') end
  if verb ~= 'add' and verb ~= 'remove' and verb ~= 'exists' and verb ~= 'get' and verb ~= 'all' then
    error('Subscription(): Arg "command" must be "add", "remove", "exists", "get" or "all"')
  end
  local function run(name, key, ...)
    local reply = redis.pcall(name, key, ...)
    if type(reply) == 'table' and reply.err then
      error('Subscription(): ' .. need('value/wrong_type')(reply, false, 'hash', key, name, key, ...))
    end
    return reply
  end
  local key = 'ql:topics' .. queue
  if verb == 'get' then
    run('hget', key, '')
    return redis.call('exists', key) == 1 and encode({key}) or '{}'
  elseif verb == 'all' then
    local queues, new = need('queue/subscribed')(now, t, run)
    local topics, gone = {}, {}
    for i = 1, #queues do
      local stored = run('hgetall', 'ql:topics' .. queues[i])
      for k = 1, #stored, 2 do
        local of = topics[stored[k]] or {}
        topics[stored[k]] = of
        of['q' .. i .. '.' .. k] = stored[k + 1]
      end
      if not stored[1] then gone[#gone + 1] = 'q:' .. queues[i] end
    end
    local in_chunks = need('value/in_chunks')
    if new[1] then in_chunks('hset', 'ql:subscriptions', new, 1, #new) end
    if gone[1] then in_chunks('hdel', 'ql:subscriptions', gone, 1, #gone) end
    return encode(topics)
  end
  if not topic then error('Subscription(): Arg "topic" missing') end
  if verb == 'exists' then return run('hget', key, topic) and 'true' or 'false' end
  run('hget', 'ql:subscriptions', 'since')
  if verb == 'remove' then
    local removed = run('hdel', key, topic) == 1
    if redis.call('exists', key) == 0 then run('hdel', 'ql:subscriptions', 'q:' .. queue) end
    return removed and 'true' or 'false'
  end
  run('hset', key, topic, queue)
  run('hset', 'ql:subscriptions', 'q:' .. queue, '1')
  local stored, values = run('hgetall', key), {}
  for i = 2, #stored, 2 do values[#values + 1] = stored[i] end
  return encode(values)
end
elseif name == 'look.jobs' then
return function(argv, now)
  local call, pcall = redis.call, redis.pcall
  local what = argv[3]
  if not what then error('Look(): "brief", "full" or names missing') end
  if #argv - 3 > 500 then error('Look(): more than 500 jids') end
  local wanted, fields, known = nil, {'jid', 'state', 'queue'}, {}
  local facts = 'shown since mark tracked due lock dependencies dependents history payloads slots'
  for name in string.gmatch(facts, '%a+') do
    known[name] = true
  end
  if what ~= 'brief' and what ~= 'full' then
    wanted = {}
    for name in string.gmatch(what .. ',', '([^,]*),') do
      if name == '' then error('Look(): empty name in ' .. what) end
      if not wanted[name] and not known[name] and name ~= 'jid' and name ~= 'state' and name ~= 'queue' then
        fields[#fields + 1] = name == 'legacy' and 'history' or name
      end
      if #fields > 100 then error('Look(): more than 100 names') end
      wanted[name] = true
    end
  end
  local function wants(name) return not wanted or wanted[name] end
  local mark_of, members = need('job/mark'), need('value/members')
  local tracking = wants('tracked') and call('exists', 'ql:tracked') == 1
  local reply = {}
  for i = 4, #argv do
    local jid = argv[i]
    local key = 'ql:j:' .. jid
    local job, row = {}, {}
    local stored = wanted and pcall('hmget', key, unpack(fields)) or not wanted and pcall('hgetall', key)
    local function add(name, value)
      if value then
        row[#row + 1] = name
        row[#row + 1] = value
      end
    end
    if stored.err then
      need('value/wrong_type')(stored, false, 'hash', key, 'hmget', key, 'jid', 'state')
      stored = {}
    elseif wanted then
      for n = 1, #fields do
        job[fields[n]] = stored[n]
        if n > 3 then add(fields[n] == 'history' and 'legacy' or fields[n], stored[n]) end
      end
      for n = 1, 3 do
        if wanted[fields[n]] then add(fields[n], stored[n]) end
      end
    else
      for n = 1, #stored, 2 do
        job[stored[n]] = stored[n + 1]
        add(stored[n] == 'history' and 'legacy' or stored[n], stored[n + 1])
      end
    end
    if not job.jid then
      reply[i - 3] = false
    else
      local base = 'ql:q:' .. (job.queue or '')
      local lock
      if wants('lock') or wants('shown') then
        lock = pcall('zscore', base .. '-locks', jid)
        if type(lock) ~= 'string' then lock = nil end
      end
      if wants('shown') then
        add('shown', job.state == 'running' and lock and tonumber(lock) <= now and 'stalled' or job.state)
      end
      if wants('since') or wants('mark') then
        local mark, since = mark_of(jid, job.state, job.queue)
        if wants('since') then add('since', since) end
        if wants('mark') then add('mark', mark) end
      end
      if wants('tracked') then add('tracked', tracking and call('zscore', 'ql:tracked', jid) and '1' or '0') end
      if wants('due') then
        local due = pcall('zscore', base .. '-scheduled', jid)
        add('due', type(due) == 'string' and due)
      end
      if wants('lock') then add('lock', lock) end
      if wants('dependencies') then add('dependencies', members(key .. '-dependencies')) end
      if wants('dependents') then add('dependents', members(key .. '-dependents')) end
      if what == 'full' or wanted and wanted.history then
        local history = pcall('lrange', key .. '-history', 0, -1)
        add('history', history.err and {} or history)
      end
      if what == 'full' and job.dup == 'merge' or wanted and wanted.payloads then
        local payloads = pcall('zrange', key .. '-payloads', 0, -1, 'WITHSCORES')
        add('payloads', payloads[1] and payloads)
      end
      if wanted and wanted.slots then add('slots', need('throttle/slots')(jid)) end
      reply[i - 3] = row
    end
  end
  return reply
end
elseif name == 'look.index' then
return function(argv)
  local call = redis.call
  local index, name, from, count = argv[3], argv[4], tonumber(argv[5]), tonumber(argv[6])
  if not index or not name then error('Look(): index or name missing') end
  if not from or not count or from % 1 ~= 0 or count % 1 ~= 0 or from < 0 or count < 0 or from > 9e15 then
    error('Look(): offset and count must be whole numbers')
  end
  if count > 10000 then error('Look(): more than 10000 members') end
  local base = 'ql:q:' .. name
  local sets = {
    waiting = base .. '-work',
    locks = base .. '-locks',
    scheduled = base .. '-scheduled',
    depends = base .. '-depends',
    throttled = base .. '-throttled',
    recurring = base .. '-recur',
    worker = 'ql:w:' .. name .. ':jobs',
    tag = 'ql:t:' .. name,
    lane = 'ql:k:' .. name,
    complete = 'ql:completed',
    tracked = 'ql:tracked',
    queues = 'ql:queues',
    workers = 'ql:workers',
    tags = 'ql:tags',
  }
  local reply = {}
  local function page(total, members)
    reply[1] = '' .. total
    for i = 1, #members do reply[i + 1] = members[i] end
    return reply
  end
  local last = from + count - 1
  if sets[index] then
    local key = sets[index]
    local total = call('zcard', key)
    if count == 0 then return page(total, {}) end
    local newest = index == 'waiting' or index == 'complete'
    return page(total, call(newest and 'zrevrange' or 'zrange', key, from, last))
  elseif index == 'failed' then
    local key = 'ql:f:' .. name
    local total = call('llen', key)
    local members = count > 0 and call('lrange', key, -last - 1, -from - 1) or {}
    local oldest = {}
    for i = #members, 1, -1 do oldest[#oldest + 1] = members[i] end
    return page(total, oldest)
  elseif index == 'groups' or index == 'paused' or index == 'paused_recurring' then
    local all
    if index == 'paused_recurring' then
      all = {}
      local stored = call('hgetall', 'ql:paused_recurring')
      for i = 1, #stored, 2 do all[#all + 1] = stored[i] end
    else
      all = call('smembers', index == 'groups' and 'ql:failures' or 'ql:paused_queues')
    end
    all = need('value/sort')(all)
    local members = {}
    for i = from + 1, math.min(last + 1, #all) do members[#members + 1] = all[i] end
    return page(#all, members)
  end
  error('Look(): unknown index ' .. index)
end
elseif name == 'look.queues' then
local most = 5000
return function(argv, now, t)
  local call = redis.call
  if argv[10003] then error('Look(): more than 10000 queues') end
  local queues = need('value/args_from')(argv, 3)
  if not queues[1] then
    local count = call('zcard', 'ql:queues')
    if count > most then return {'' .. count} end
    queues = call('zrange', 'ql:queues', 0, -1)
  end
  local entry_time, reply = need('history/entry_time'), {}
  for i = 1, #queues do
    local queue = queues[i]
    local base = 'ql:q:' .. queue
    local lapsed = call('zcount', base .. '-locks', '-inf', t)
    local taken = call('zcount', base .. '-work', '+inf', '+inf')
    local due = call('zcount', base .. '-scheduled', '-inf', t)
    local text
    local pause, paused = {}, call('sismember', 'ql:paused_queues', queue) == 1
    if paused then
      text = call('hget', 'ql:pauses', queue)
      local ok, decoded = pcall(cjson.decode, text or '')
      if ok and type(decoded) == 'table' then pause = decoded end
      local till = tonumber(pause['until'])
      if till and till <= now then paused, pause = false, {} end
    end
    local function stored(name)
      local value = pause[name]
      if type(value) == 'number' then value = string.match(text, '"' .. name .. '":(-?[%d.eE+]+)') or '' .. value end
      return type(value) == 'string' and value
    end
    local head = call('zrevrange', base .. '-work', 0, 0)[1]
      or call('zrangebyscore', base .. '-scheduled', '-inf', t, 'LIMIT', 0, 1)[1]
    local since = false
    if head then
      local newest = redis.pcall('lrange', 'ql:j:' .. head .. '-history', -1, -1)
      since = not newest.err and entry_time(newest[1]) or false
    end
    reply[i] = {
      'name', queue,
      'known', call('zscore', 'ql:queues', queue) and '1' or '0',
      'running', '' .. call('zcard', base .. '-locks') - lapsed,
      'stalled', '' .. lapsed + taken,
      'waiting', '' .. call('zcard', base .. '-work') - taken + due,
      'scheduled', '' .. call('zcard', base .. '-scheduled') - due,
      'depends', '' .. call('zcard', base .. '-depends'),
      'throttled', '' .. call('zcard', base .. '-throttled'),
      'recurring', '' .. call('zcard', base .. '-recur'),
      'paused', paused and '1' or '0',
      'since', stored('since'),
      'until', stored('until'),
      'reason', stored('reason'),
      'by', stored('by'),
      'head', since,
    }
  end
  return reply
end
elseif name == 'look.ready' then
return function(argv, now)
  local call = redis.call
  if argv[10003] then error('Look(): more than 10000 queues') end
  local queues, ready, due = need('value/args_from')(argv, 3), {''}, nil
  if not queues[1] then queues = call('zrange', 'ql:queues', 0, -1) end
  for i = 1, #queues do
    local queue = queues[i]
    local base = 'ql:q:' .. queue
    local work, held = base .. '-work', base .. '-throttled'
    if call('exists', work, held, base .. '-locks', base .. '-scheduled', base .. '-recur') > 0 then
      local at = 0
      if call('exists', work, held) == 0 then
        at = need('queue/next_due')(now, queue, '-inf')
      elseif call('sismember', 'ql:paused_queues', queue) == 1 then
        local paused, till = need('queue/paused')(now, queue, true)
        if paused then at = till end
      end
      if at and at <= now then
        ready[#ready + 1] = queue
      elseif at and (not due or at < due) then
        due = at
      end
    end
  end
  if due then ready[1] = string.format('%.3f', due - now + 0.001) end
  return ready
end
elseif name == 'look.workers' then
local most = 5000
return function(argv, now, t)
  local call = redis.call
  if argv[10003] then error('Look(): more than 10000 workers') end
  local workers = need('value/args_from')(argv, 3)
  local age = need('value/number')(redis.pcall('hget', 'ql:config', 'max-worker-age')) or 86400
  local since = math.max(now - age, -1)
  if not workers[1] then
    local first = string.format('(%.17g', since)
    local count = call('zcount', 'ql:workers', first, '+inf')
    if count > most then return {'' .. count} end
    workers = call('zrevrangebyscore', 'ql:workers', '+inf', first)
  end
  local reply = {}
  for i = 1, #workers do
    local held, seen = 'ql:w:' .. workers[i] .. ':jobs', call('zscore', 'ql:workers', workers[i])
    reply[i] = {
      'name', workers[i],
      'seen', seen,
      'recent', seen and tonumber(seen) > since and '1' or '0',
      'running', '' .. call('zcount', held, '(' .. t, '+inf'),
      'stalled', '' .. call('zcount', held, '-inf', t),
    }
  end
  return reply
end
elseif name == 'look.recurs' then
return function(argv)
  if #argv - 2 > 500 then error('Look(): more than 500 jids') end
  local reply = {}
  for i = 3, #argv do
    local key = 'ql:r:' .. argv[i]
    local row, found, queue = redis.pcall('hgetall', key), false, ''
    if row.err then
      need('value/wrong_type')(row, false, 'hash', key, 'hgetall', key)
    else
      for n = 1, #row, 2 do
        if row[n] == 'jid' then found = true end
        if row[n] == 'queue' then queue = row[n + 1] end
      end
    end
    if found then
      local next_run = redis.pcall('zscore', 'ql:q:' .. queue .. '-recur', argv[i])
      if type(next_run) == 'string' then row[#row + 1], row[#row + 2] = 'next', next_run end
      reply[i - 2] = row
    else
      local document, paused = need('recurring/paused')(argv[i]), false
      if document then
        paused = {'paused', document.since or ''}
        for n = 1, #document.fields do paused[#paused + 1] = document.fields[n] end
        for _, name in ipairs({'next', 'by', 'reason'}) do
          if document[name] then paused[#paused + 1], paused[#paused + 2] = name, document[name] end
        end
      end
      reply[i - 2] = paused
    end
  end
  return reply
end
elseif name == 'look.scan' then
return function(argv)
  local kind, cursor, count = argv[3], argv[4], tonumber(argv[5])
  if not cursor or not string.find(cursor, '^%d+$') or #cursor > 19 then error('Look(): cursor must be a number') end
  if not count or count % 1 ~= 0 or count < 1 or count > 10000 then
    error('Look(): count must be a whole number from 1 to 10000')
  end
  local prefix, step
  if kind == 'jobs' then
    prefix = 'ql:j:'
  elseif kind == 'recurring' then
    prefix = 'ql:r:'
  elseif kind == 'keys' then
    prefix = 'ql:'
  else
    error('Look(): "jobs", "recurring" or "keys" missing')
  end
  if kind == 'keys' then
    step = redis.call('scan', cursor, 'MATCH', prefix .. '*', 'COUNT', count)
  else
    step = redis.call('scan', cursor, 'MATCH', prefix .. '*', 'COUNT', count, 'TYPE', 'hash')
  end
  local reply = {step[1]}
  for i = 1, #step[2] do reply[i + 1] = string.sub(step[2][i], #prefix + 1) end
  return reply
end
elseif name == 'look.pop' then
return function(argv, now, t)
  local call, pcall = redis.call, redis.pcall
  local queue, jid = argv[3], argv[4]
  if not queue then error('Look(): queue missing') end
  local base, reply = 'ql:q:' .. queue, {}
  local work, locks = base .. '-work', base .. '-locks'
  local function add(name, value)
    if value then reply[#reply + 1], reply[#reply + 2] = name, '' .. value end
  end
  local limit = need('value/number')(pcall('hget', 'ql:config', queue .. '-max-concurrency'))
  if limit and limit >= 1 then add('limit', math.floor(limit)) end
  add('held', call('zcount', locks, t, '+inf'))
  add('late', call('zcount', base .. '-recur', 0, t))
  local newest = call('zrevrange', locks, 0, 0)[1]
  local job = newest and pcall('hmget', 'ql:j:' .. newest, 'time', 'worker') or {}
  add('popped', job[1])
  add('holder', job[2])
  local seen = call('zrevrange', 'ql:workers', 0, 0, 'WITHSCORES')
  add('worker', seen[1])
  add('seen', seen[2])
  local today = now - now % 86400
  for back = 0, 7 do
    local day = today - back * 86400
    local pops = pcall('hget', 'ql:s:wait:' .. day .. ':' .. queue, 'total')
    if type(pops) == 'string' then
      add('pops', pops)
      add('day', day)
      break
    end
  end
  local head = call('zrevrange', work, 0, 0, 'WITHSCORES')
  local priority = head[1] and need('value/number')(pcall('hget', 'ql:j:' .. head[1], 'priority'))
  local queued = priority and (priority - tonumber(head[2])) * 10000000000
  if queued and queued > 0 and queued <= now then add('queued', string.format('%.17g', queued)) end
  add('due', call('zrangebyscore', base .. '-scheduled', '(' .. t, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)[2])
  local function ghost(members)
    local keys = {}
    for i = 1, #members do keys[i] = 'ql:j:' .. members[i] end
    if not keys[1] or call('exists', unpack(keys)) == #keys then return end
    for i = 1, #keys do
      if call('exists', keys[i]) == 0 then return members[i] end
    end
  end
  add('ghost', ghost(call('zrangebyscore', locks, '-inf', t, 'LIMIT', 0, 20))
    or ghost(call('zrevrange', work, 0, 19)))
  if call('exists', base .. '-throttled') == 1 then add('next_held', need('throttle/next_held')(now, queue)) end
  local since, oldest = need('queue/oldest')(now, t, queue)
  add('oldest', since)
  add('oldest_jid', oldest)
  local score = jid and call('zscore', work, jid)
  if score then
    local ahead = call('zcount', work, '(' .. score, '+inf')
    local alike = call('zrevrangebyscore', work, score, score, 'LIMIT', 0, 500)
    for i = 1, #alike do
      if alike[i] == jid then break end
      ahead = ahead + 1
    end
    add('listed', 1)
    add('ahead', ahead)
  end
  return reply
end
elseif name == 'look.status' then
local call, pcall = redis.call, redis.pcall
local most = 2000
local function failed_at(key, index)
  local jid = call('lrange', key, index, index)[1]
  local failure = pcall('hget', 'ql:j:' .. jid, 'failure')
  if type(failure) ~= 'string' then return 0 end
  local when = need('failure/decode')(failure).when
  return type(when) == 'number' and when or 0
end
local function recent(key, size, since)
  if size == 0 or failed_at(key, 0) < since then return 0 end
  if failed_at(key, size - 1) >= since then return size end
  local low, high = 1, 8
  while high < size and failed_at(key, high - 1) >= since do low, high = high, high * 8 end
  high = math.min(high, size)
  while high - low > math.max(1, low / 16) do
    local middle = math.floor((low + high) / 2)
    if failed_at(key, middle - 1) >= since then low = middle else high = middle end
  end
  return low
end
return function(argv, now, t)
  local since = need('value/number')(argv[3])
  if not since then error('Look(): since is not a number') end
  local given = argv[4]
  local count = tonumber(given or 0)
  if not count or count % 1 ~= 0 or count < 0 or 4 + count > math.max(4, #argv) then
    error('Look(): wrong number of groups: ' .. given)
  end
  if argv[most + 5] then error('Look(): more than ' .. most .. ' names') end
  local function listed(first, last, how_many, members, key, ...)
    if given then
      local names = {}
      for i = first, last do names[i - first + 1] = argv[i] end
      return names
    end
    local all = call(how_many, key)
    if all > most then return {}, '' .. all end
    return call(members, key, ...)
  end
  local names, groups = listed(5, 4 + count, 'scard', 'smembers', 'ql:failures')
  names, groups = need('value/sort')(names), groups or {}
  for i = 1, #names do
    local key = 'ql:f:' .. names[i]
    local size = pcall('llen', key)
    if type(size) ~= 'number' then size = 0 end
    groups[i] = {names[i], '' .. size, '' .. recent(key, size, since)}
  end
  local day = now - now % 86400 .. ':'
  local function counter(key, field)
    local value = pcall('hget', key, field)
    return type(value) == 'string' and value or '0'
  end
  local queues, oldest
  names, queues = listed(5 + count, #argv, 'zcard', 'zrange', 'ql:queues', 0, -1)
  queues, oldest = queues or {}, need('queue/oldest')
  for i = 1, #names do
    local queue = names[i]
    local due = call('zrangebyscore', 'ql:q:' .. queue .. '-recur', 0, t, 'WITHSCORES', 'LIMIT', 0, 1)
    local waits, jid = oldest(now, t, queue)
    queues[i] = {
      queue,
      counter('ql:s:wait:' .. day .. queue, 'total'),
      counter('ql:s:run:' .. day .. queue, 'total'),
      counter('ql:s:stats:' .. day .. queue, 'failures'),
      '' .. call('zcount', 'ql:q:' .. queue .. '-recur', 0, t),
      due[2] or false,
      waits or false,
      jid or false,
    }
  end
  if given then return {false, false, groups, queues} end
  local may = not redis.acl_check_cmd or redis.acl_check_cmd('info')
  local info = may and pcall('info')
  if type(info) ~= 'string' then info = false end
  return {'' .. call('zcard', 'ql:completed'), info, groups, queues}
end
elseif name == 'look.traces' then
return function(argv)
  local call, pcall = redis.call, redis.pcall
  local jid = argv[3]
  if not jid then error('Look(): jid missing') end
  local members, key = need('value/members'), 'ql:j:' .. jid
  local function has(set) return type(pcall('zscore', set, jid)) == 'string' end
  local history = pcall('llen', key .. '-history')
  local tags, queues = {}, {}
  for _, tag in ipairs(call('zrevrange', 'ql:tags', 0, 999)) do
    if has('ql:t:' .. tag) then tags[#tags + 1] = tag end
  end
  for _, queue in ipairs(call('zrevrange', 'ql:queues', 0, 999)) do
    local base = 'ql:q:' .. queue
    local listed = has(base .. '-work') or has(base .. '-locks')
    listed = listed or has(base .. '-scheduled') or has(base .. '-depends')
    if listed or has(base .. '-throttled') then queues[#queues + 1] = queue end
  end
  return {
    'history', type(history) == 'number' and '' .. history or '0',
    'tracked', has('ql:tracked') and '1' or '0',
    'complete', has('ql:completed') and '1' or '0',
    'dependents', members(key .. '-dependents'),
    'dependencies', members(key .. '-dependencies'),
    'tags', tags,
    'queues', queues,
  }
end
elseif name == 'guard.put' then
return function(argv, now, t, seconds)
  local policy = need('value/object_arg')('policy', argv[3],
    {replace = 'boolean', missing = 'string', me = 'string', lanes = 'boolean'})
  local missing_policy = policy.missing or 'refuse'
  if missing_policy ~= 'refuse' and missing_policy ~= 'allow' then
    error('Guard(): missing must be "refuse" or "allow"')
  end
  local jobs, at, links, put_args = {}, 4, 0, need('job/put_args')
  while argv[at] do
    local count = tonumber(argv[at])
    if not count or count % 1 ~= 0 or count < 1 or at + count > #argv then
      error('Guard(): wrong number of words: ' .. argv[at])
    end
    local job = put_args(argv, at + 1, count)
    job.entry = job.note and need('history/note')(seconds, job.note) or nil
    jobs[#jobs + 1] = job
    if #jobs > 500 then error('Guard(): more than 500 jobs') end
    links = links + (job.o.tags and #job.o.tags or 0) + (job.o.depends and #job.o.depends or 0)
    if links > 50000 then error('Guard(): "tags" and "depends" of all jobs have more than 50000 names') end
    at = at + count + 1
  end
  local reply, progress = {}, {}
  local key_fault = need('value/key_fault')(progress)
  local queue_of, put_new, flush = need('job/put_new')(now, t, seconds, key_fault, progress)
  local keys, seen, put, defaults = {}, {}, nil, need('option/of_queues')(jobs)
  for i = 1, #jobs do
    local key = 'ql:j:' .. jobs[i].jid
    keys[2 * i - 1], keys[2 * i] = key, key .. '-dependencies'
  end
  local none_exists = keys[1] and redis.pcall('exists', unpack(keys)) == 0
  for i = 1, #jobs do
    local job = jobs[i]
    local jid, queue = job.jid, queue_of(job.queue)
    local state, bad
    if job.plain and not defaults[job.queue] and not job.invalid and not queue.bad and not seen[jid]
      and (none_exists or redis.pcall('exists', keys[2 * i - 1], keys[2 * i]) == 0) then
      state, bad = put_new(queue, job)
    end
    if state then
      progress.wrote = true
      reply[i] = policy.lanes and {'done', '', state, jid, ''} or {'done', '', state}
    elseif bad then
      reply[i] = {'invalid', '', bad}
    else
      if seen[jid] then flush() end
      put = put or need('job/put_guarded')(now, t, seconds, policy, key_fault, progress, defaults)
      reply[i] = put(job)
    end
    seen[jid] = true
  end
  flush()
  return reply
end
elseif name == 'guard.requeue' then
local call = redis.call
return function(argv, now, t, seconds)
  local options = need('value/object_arg')('options', argv[3],
    {from = 'table', to = 'string', priority = 'number', keep = 'boolean'})
  local states, from = {failed = true}, options.from
  if from then
    states = {}
    for _, state in pairs(from) do
      if state ~= 'waiting' and state ~= 'running' and state ~= 'stalled' and state ~= 'scheduled'
        and state ~= 'depends' and state ~= 'throttled' and state ~= 'failed' and state ~= 'complete' then
        error('Guard(): unknown state in from: ' .. tostring(state))
      end
      states[state] = true
    end
  end
  local note = need('history/note')(seconds, argv[4])
  local count = (#argv - 4) / 3
  if count % 1 ~= 0 then error('Guard(): jid, mark and due for each job') end
  if count > 500 then error('Guard(): more than 500 jobs') end
  local dues = {}
  for i = 1, count do
    local text = argv[4 + 3 * i]
    if text ~= '' then
      local due = need('value/number')(text)
      if not due then error('Guard(): due is not a number: ' .. text) end
      if due > now then dues[i] = string.format('%.17g', due) end
    end
  end
  local reply, failed, listed = {}, {}, {}
  local progress = {}
  local outcome, mark_of, number = need('value/outcome_row'), need('job/mark'), need('value/number')
  local key_fault, job_key_fault = need('value/key_fault')(progress), need('job/key_fault')
  local remove_from_state_set, lock_lost = need('queue/remove_from_state_set'), need('job/lock_lost')
  local trim, whole_tries, enter = need('history/trim'), need('value/whole_tries'), need('throttle/enter')
  local tracking, stamp = call('exists', 'ql:tracked') == 1, string.format('%.20f', now)
  local limit = tonumber(redis.pcall('hget', 'ql:config', 'max-job-history') or 100) or 100
  for i = 1, count do
    local jid, mark, due = argv[2 + 3 * i], argv[3 + 3 * i], dues[i]
    local key = 'ql:j:' .. jid
    local job = redis.pcall('hmget', key, 'jid', 'state', 'queue', 'worker', 'priority', 'retries', 'remaining', 'failure', 'history', 'grace', 'scheduled', 'throttles')
    local state, home = job[2], job[3]
    if job.err then
      local fault = need('value/wrong_type')(job, progress.wrote, 'hash', key, 'hmget', key, 'jid', 'state')
      reply[i] = outcome('invalid', '', fault)
    elseif not job[1] then
      reply[i] = outcome('gone', '')
    else
      local present = mark_of(jid, state, home)
      if not states[state] or mark ~= '' and mark ~= present then
        reply[i] = outcome('state_changed', present)
      else
        local queue = options.to or home
        if not options.to and state == 'complete' then queue = need('history/last_queue')(jid) end
        local invalid
        if not queue then
          invalid = 'no queue known'
        elseif queue == '' then
          invalid = 'queue name is empty'
        else
          local base = 'ql:q:' .. queue
          invalid = key_fault('zset', 'ql:queues', 'zset', base .. '-work', 'zset', base .. '-scheduled',
            'zset', base .. '-depends')
            or job_key_fault(key_fault, jid, state, home, job[4], false, job[8])
        end
        local throttles = not invalid and job[12]
        if throttles and not due then invalid = need('throttle/key_fault')(key_fault, queue, throttles) end
        local ext = throttles and call('hmget', key, 'key', 'dup') or {}
        if invalid then
          reply[i] = outcome('invalid', present, invalid)
        elseif state == 'failed' and ext[2] == 'merge' and not due
          and need('merge/into_last')(now, jid, ext[1], queue) then
          progress.wrote = true
          failed[#failed + 1] = {jid, job[8], home or ''}
          reply[i] = outcome('done', '', 'merged', queue)
        else
          local base, worker = 'ql:q:' .. queue, job[4]
          progress.wrote = true
          if job[9] then need('history/migrate')(jid, job[9]) end
          local quoted, history = cjson.encode(queue), key .. '-history'
          local entry, length = '[' .. seconds .. ',"put",{"q":' .. quoted .. '}]', nil
          if note then
            length = call('rpush', history, entry, note)
          else
            length = call('rpush', history, entry)
          end
          if length > limit then trim(history, length, limit) end
          call('publish', 'ql:log', '{"jid":' .. cjson.encode(jid) .. ',"event":"put","queue":' .. quoted .. '}')
          if state == 'failed' then
            failed[#failed + 1] = {jid, job[8], home or ''}
          elseif state == 'complete' then
            call('zrem', 'ql:completed', jid)
            if false then need('job/unlist_complete')(jid) end
          elseif home then
            remove_from_state_set(jid, state, home)
          end
          if worker and worker ~= '' then
            call('zrem', 'ql:w:' .. worker .. ':jobs', jid)
            lock_lost(jid, worker)
          end
          local priority = options.priority or number(job[5]) or 0
          local retries = number(job[6]) or 5
          local remaining = options.keep and number(job[7]) or retries
          if throttles then need('throttle/leave')(jid, state, home or '', throttles) end
          if ext[1] then need('lane/rejoin')(now, ext[1], jid) end
          if ext[2] == 'merge' then call('hset', key, 'data', need('merge/compose')(jid)) end
          local placed = due and 'scheduled' or 'waiting'
          if call('exists', key .. '-dependencies') == 1 then placed = 'depends' end
          call('hmset', key, 'state', placed, 'worker', '', 'expires', '0', 'queue', queue, 'priority', priority,
            'remaining', whole_tries(remaining), 'time', stamp)
          local leftover = job[11]
          if placed == 'depends' then
            call('zadd', base .. '-depends', t, jid)
            if due then
              call('hset', key, 'scheduled', due)
              leftover = false
            end
          elseif placed == 'scheduled' then
            call('zadd', base .. '-scheduled', due, jid)
          elseif throttles and enter(now, t, seconds, queue, jid, throttles, priority, limit) then
            placed = 'throttled'
          else
            call('zadd', base .. '-work', priority - now / 10000000000, jid)
          end
          if job[10] then call('hdel', key, 'grace') end
          if leftover then call('hdel', key, 'scheduled') end
          if not listed[queue] then
            call('zadd', 'ql:queues', 'NX', t, queue)
            listed[queue] = true
          end
          if tracking and call('zscore', 'ql:tracked', jid) then call('publish', 'ql:put', jid) end
          reply[i] = outcome('done', '', placed, queue)
        end
      end
    end
  end
  if failed[1] then need('failure/leave_many')(failed) end
  return reply
end
elseif name == 'guard.cancel' then
local most, most_dependents, most_links, most_links_below = 5000, 20000, 20000, 50000
return function(argv, now)
  local call, mode, reply, rows = redis.call, argv[3], {}, {}
  if mode ~= 'refuse' and mode ~= 'cancel' and mode ~= 'release' then
    error('Guard(): "refuse", "cancel" or "release" missing')
  end
  local count = (#argv - 3) / 2
  if count % 1 ~= 0 then error('Guard(): jid and mark for each job') end
  if count > 500 then error('Guard(): more than 500 jobs') end
  local outcome, mark_of = need('value/outcome_row'), need('job/mark')
  local key_fault, job_key_fault = need('value/key_fault')(), need('job/key_fault')
  local dependencies_fault = need('dependency/key_fault')
  local going, order, stays, marks, trouble, jobs, links = {}, {}, {}, {}, {}, {}, 0
  local function judge(jid)
    local key = 'ql:j:' .. jid
    local job = redis.pcall('hmget', key, 'state', 'queue', 'failure', 'worker', 'tags', 'throttles', 'jid')
    if job.err then
      return 'invalid', need('value/wrong_type')(job, false, 'hash', key, 'hmget', key, 'jid', 'state')
    end
    if not job[7] then return 'gone' end
    local state, queue = job[1], job[2]
    marks[jid] = mark_of(jid, state, queue)
    if state == 'complete' then return 'complete' end
    local fault, tags = job_key_fault(key_fault, jid, state, queue, job[4], job[5], job[3])
    local names
    if not fault then fault, names = dependencies_fault(key_fault, jid) end
    if fault then return 'invalid', fault end
    job.dependencies, job.tag_list = names, tags
    links = links + #names + (tags and #tags or 0)
    jobs[jid] = job
  end
  for i = 1, count do
    local jid, mark = argv[2 + 2 * i], argv[3 + 2 * i]
    if not going[jid] and not stays[jid] then
      stays[jid], trouble[jid] = judge(jid)
      if not stays[jid] then
        going[jid] = true
        order[#order + 1] = jid
      end
    end
    if going[jid] and mark ~= '' and mark ~= marks[jid] then
      going[jid], stays[jid] = nil, 'state_changed'
    end
    if links > most_links then
      count = i
      break
    end
  end
  local below, failed, blocked, dependents_of = {}, {}, {}, need('dependency/waiting_dependents')
  local function test_release(jid)
    for _, name in ipairs(below[jid]) do
      local base = 'ql:q:' .. (call('hget', 'ql:j:' .. name, 'queue') or '')
      local fault = key_fault('zset', base .. '-depends', 'zset', base .. '-work', 'zset', base .. '-scheduled')
      if fault then going[jid], stays[jid], trouble[jid] = nil, 'invalid', fault end
    end
  end
  local function add_dependents(jid)
    for _, name in ipairs(below[jid]) do
      if not going[name] and not stays[name] and not blocked[name] then
        blocked[name], trouble[name] = judge(name)
        if not blocked[name] then
          going[name] = true
          order[#order + 1] = name
          if #order > most then return end
        end
      end
    end
  end
  local position, limit = 1, links + most_links_below
  while order[position] and #order <= most and links <= limit do
    local jid = order[position]
    if going[jid] then
      below[jid], failed[jid] = dependents_of(jid, true, most_dependents)
      if not below[jid] then
        going[jid], stays[jid], trouble[jid] = nil, 'invalid', 'more than ' .. most_dependents .. ' dependents'
      elseif mode == 'release' then
        test_release(jid)
      elseif mode == 'cancel' then
        add_dependents(jid)
      end
    end
    position = position + 1
  end
  local too_many = #order > most and most .. ' jobs' or links > limit and most_links_below .. ' tags and dependencies'
  local staying = {}
  if mode ~= 'release' and not too_many then staying = need('dependency/keep_blocked')(going, below) end
  local is_given, deleted, cascaded = {}, {}, {}
  for i = 1, count do is_given[argv[2 + 2 * i]] = true end
  local function cascade(jid, list)
    local stack = {jid}
    while stack[1] do
      local name = table.remove(stack)
      for _, other in ipairs(below[name] or {}) do
        if going[other] and not cascaded[other] and not is_given[other] then
          cascaded[other] = true
          list[#list + 1], deleted[#deleted + 1], stack[#stack + 1] = other, other, other
        end
      end
    end
  end
  local function row_of(jid, present)
    if too_many and (going[jid] or not stays[jid]) then
      return outcome('invalid', present, 'more than ' .. too_many .. ' below')
    elseif stays[jid] then
      return outcome(stays[jid], present, trouble[jid] or {})
    elseif not going[jid] then
      return outcome('has_dependents', present, staying[jid] or {})
    end
    local further = {}
    deleted[#deleted + 1] = jid
    if mode == 'cancel' then cascade(jid, further) end
    return outcome('done', '', further)
  end
  for i = 1, count do
    local jid, mark = argv[2 + 2 * i], argv[3 + 2 * i]
    local present = marks[jid] or ''
    rows[jid] = rows[jid] or row_of(jid, present)
    reply[i] = rows[jid]
    if stays[jid] == 'complete' and mark ~= '' and mark ~= present then reply[i] = outcome('state_changed', present) end
  end
  for _, jid in ipairs(deleted) do
    if mode == 'release' then need('dependency/release_below')(now, jid, below[jid] or {}, going, rows[jid]) end
    for _, name in ipairs(failed[jid] or {}) do call('srem', 'ql:j:' .. name .. '-dependencies', jid) end
  end
  if deleted[1] then need('job/delete')(now, deleted, true, call('exists', 'ql:tracked') == 1, jobs) end
  return reply
end
elseif name == 'guard.depends' then
return function(argv, _, _, seconds)
  local jid, mark = argv[3], argv[4]
  if not jid or not mark then error('Guard(): jid or mark missing') end
  local note = need('history/note')(seconds, argv[5])
  if not argv[6] then error('Guard(): no dependency') end
  if #argv - 5 > 500 then error('Guard(): more than 500 dependencies') end
  local names, seen = {}, {}
  for i = 6, #argv do
    if not seen[argv[i]] then names[#names + 1] = argv[i] end
    seen[argv[i]] = true
  end
  local outcome, key = need('value/outcome_row'), 'ql:j:' .. jid
  local job = redis.pcall('hmget', key, 'jid', 'state', 'queue', 'history')
  if job.err then
    return outcome('invalid', '', need('value/wrong_type')(job, false, 'hash', key, 'hmget', key, 'jid', 'state'))
  end
  if not job[1] then return outcome('gone', '') end
  local present = need('job/mark')(jid, job[2], job[3])
  if job[2] ~= 'depends' or mark ~= '' and mark ~= present then return outcome('state_changed', present) end
  local path, trouble = need('dependency/find_cycle')(jid, names)
  if path then return outcome('cycle', present, path) end
  if path == false then return outcome('invalid', present, trouble) end
  local pending, complete, missing = need('dependency/classify')(names)
  if missing[1] then return outcome('missing_dependency', present, missing) end
  local key_fault = need('value/key_fault')()
  local invalid = key_fault('set', key .. '-dependencies', 'list', key .. '-history')
  for i = 1, #pending do invalid = invalid or key_fault('set', 'ql:j:' .. pending[i] .. '-dependents') end
  if invalid then return outcome('invalid', present, invalid) end
  need('dependency/link')(jid, pending)
  if note then
    if job[4] then need('history/migrate')(jid, job[4]) end
    need('history/append')(jid, note)
  end
  return outcome('done', '', complete)
end
elseif name == 'guard.call' then
local jid_slots = {
  timeout = 7, priority = 7, depends = 7, fail = 7, bury = 7, retry = 7, complete = 7, log = 7, tag = 8, track = 8,
}
return function(argv, now, t, seconds)
  local jid, mark, name = argv[3], argv[4], argv[6]
  if not jid or not mark then error('Guard(): jid or mark missing') end
  local note = need('history/note')(seconds, argv[5])
  local slot = name and jid_slots[name]
  if not slot then error('Guard(): no command that may be guarded: ' .. tostring(name)) end
  local verb = argv[7]
  local swap = name == 'tag' and verb == 'swap'
  local off = swap and tonumber(argv[9])
  if swap then
    if not off or off % 1 ~= 0 or off < 0 or off > #argv - 9 then error('Guard(): how many tags go is wrong') end
  elseif name == 'tag' and verb ~= 'add' and verb ~= 'remove' then
    error('Guard(): only tag add, tag remove and tag swap')
  end
  if argv[slot] ~= jid or name == 'timeout' and argv[8] then error('Guard(): another job than ' .. jid) end
  local outcome, key = need('value/outcome_row'), 'ql:j:' .. jid
  local job = redis.pcall('hmget', key, 'jid', 'state', 'queue')
  if job.err then
    return outcome('invalid', '', need('value/wrong_type')(job, false, 'hash', key, 'hmget', key, 'jid', 'state'))
  end
  if not job[1] then return outcome('gone', '') end
  local present = need('job/mark')(jid, job[2], job[3])
  if mark ~= '' and mark ~= present then return outcome('state_changed', present) end
  local bad = need('value/key_fault')()('list', key .. '-history')
  if bad then return outcome('invalid', present, bad) end
  local command = {name, argv[2]}
  if swap then
    local has, count = {}, 0
    local function set(first, last, to)
      for i = first, last do
        if (has[argv[i]] or false) ~= to then count = count + (to and 1 or -1) end
        has[argv[i]] = to
      end
    end
    local tags = need('job/tags')(redis.call('hget', key, 'tags'))
    for i = 1, #tags do
      if not has[tags[i]] then count = count + 1 end
      has[tags[i]] = true
    end
    set(10, off + 9, false)
    local before = count
    set(off + 10, #argv, true)
    need('job/few_tags')('Guard', count, before)
    if argv[off + 10014] or off > 10000 then error('Guard(): more than 10000 tags') end
    local gone = {name, argv[2], 'remove', jid}
    for i = 1, off do gone[i + 4] = argv[i + 9] end
    need(name, true)(gone, now, t, seconds)
    command[3], command[4] = 'add', jid
    for i = off + 10, #argv do command[i - off - 5] = argv[i] end
  else
    for i = 7, #argv do command[i - 4] = argv[i] end
    if name == 'complete' and command[6] == '' then command[6] = redis.call('hget', key, 'data') or '' end
  end
  local reply = need(name, true)(command, now, t, seconds)
  if note and redis.call('exists', key) == 1 then need('history/append')(jid, note) end
  if type(reply) == 'number' then reply = string.format('%.14g', reply) end
  return {'done', '', reply or false}
end
elseif name == 'guard.pause' then
return function(argv, now, _, seconds)
  local till, note = argv[3], argv[4]
  if not till then error('Guard(): until missing') end
  local moment = 'null'
  if till ~= '' then
    local n = need('value/number')(till)
    if not n then error('Guard(): until is not a number: ' .. till) end
    moment = string.format('%.17g', n)
  end
  need('history/note')(seconds, note)
  local given = note ~= '' and cjson.decode(note) or {}
  if not argv[5] then error('Guard(): no queue') end
  if #argv - 4 > 500 then error('Guard(): more than 500 queues') end
  local function text(value) return type(value) == 'string' and cjson.encode(value) or 'null' end
  local pause = '{"since":' .. string.format('%.17g', now) .. ',"until":' .. moment .. ',"reason":' ..
    text(given.reason) .. ',"by":' .. text(given.by) .. '}'
  local bad = need('value/key_fault')()('hash', 'ql:pauses', 'set', 'ql:paused_queues')
  if bad then error('Guard(): ' .. bad) end
  for i = 5, #argv do
    redis.call('hset', 'ql:pauses', argv[i], pause)
    redis.call('sadd', 'ql:paused_queues', argv[i])
  end
end
elseif name == 'guard.recur' then
local verbs = {}
local function keys_of(jid)
  local key = 'ql:r:' .. jid
  local bad = need('value/key_fault')()('hash', 'ql:paused_recurring', 'hash', key)
  if bad then return bad end
  local queue = redis.call('hget', key, 'queue')
  return need('value/key_fault')()('zset', 'ql:q:' .. (queue or '') .. '-recur')
end
function verbs.pause(jid, live, document, _, t, about)
  if live then
    if document then return 'exists' end
    need('recurring/pause')(jid, t, about)
  end
  return 'done'
end
function verbs.resume(jid, live, document, now, t)
  if live then return document and 'exists' or 'done' end
  return 'done', need('recurring/resume')(now, t, jid, document)
end
function verbs.remove(jid, live)
  if live then need('unrecur', true)({'unrecur', '', jid}) end
  redis.call('hdel', 'ql:paused_recurring', jid)
  return 'done'
end
local function note_of(seconds, text)
  return need('history/note')(seconds, text) and cjson.decode(text) or {}
end
return function(argv, now, t, seconds)
  local call, outcome = redis.call, need('value/outcome_row')
  local verb, word = argv[3], argv[4]
  if not word then error('Guard(): verb or argument missing') end
  local function words_from(first, name)
    local words = {name, argv[2]}
    for i = first, #argv do words[#words + 1] = argv[i] end
    return words
  end
  if verb == 'put' then
    local about, jid = note_of(seconds, word), argv[6]
    if not jid then error('Guard(): no jid') end
    local bad = keys_of(jid)
    if bad then return {outcome('invalid', '', bad)} end
    need('recur', true)(words_from(5, 'recur'), now, t, seconds)
    call('hdel', 'ql:paused_recurring', jid)
    if type(about.since) == 'number' then
      need('recurring/pause')(jid, string.format('%.17g', about.since), about)
    end
    return {outcome('done', '')}
  elseif verb == 'update' then
    local jid, next_run = argv[5], need('value/number')(word)
    if not jid then error('Guard(): no jid') end
    if not next_run then error('Guard(): next is not a number: ' .. word) end
    local bad = keys_of(jid)
    if bad then return {outcome('invalid', '', bad)} end
    if call('exists', 'ql:r:' .. jid) == 0 then return {outcome('gone', '')} end
    need('recur.update', true)(words_from(5, 'recur.update'), now, t, seconds)
    local queue = call('hget', 'ql:r:' .. jid, 'queue') or ''
    call('zadd', 'ql:q:' .. queue .. '-recur', word, jid)
    return {outcome('done', '', word)}
  elseif not verbs[verb] then
    error('Guard(): unknown verb ' .. verb)
  end
  local about = verb == 'pause' and note_of(seconds, word)
  local reply, first = {}, about and 5 or 4
  if #argv - first >= 500 then error('Guard(): more than 500 jids') end
  for i = first, #argv do
    local jid = argv[i]
    local bad = keys_of(jid)
    local live = not bad and call('exists', 'ql:r:' .. jid) == 1
    local document, fault
    if not bad then document, fault = need('recurring/paused')(jid) end
    bad = bad or verb ~= 'remove' and fault
    if bad then
      reply[#reply + 1] = outcome('invalid', '', bad)
    elseif not live and not document and not fault then
      reply[#reply + 1] = outcome('gone', '')
    else
      local code, next_run = verbs[verb](jid, live, document, now, t, about)
      reply[#reply + 1] = outcome(code, '', next_run)
    end
  end
  return reply
end
elseif name == 'throttle.set' then
return function(argv)
  local call, id, maximum, ttl = redis.call, argv[3], argv[4], argv[5]
  local number = need('value/number')
  if not id then error('Throttle(): Arg "id" missing') end
  if need('throttle/reserved')(id) then error('Throttle(): Arg "id" ends in -locks or -pending: ' .. id) end
  maximum = number(maximum)
  if not maximum or maximum % 1 ~= 0 then
    error('Throttle(): Arg "maximum" not an integer: ' .. tostring(argv[4]))
  end
  if ttl then
    ttl = number(ttl)
    if not ttl or ttl < 0 or ttl > 1e11 then
      error('Throttle(): Arg "seconds" not a positive number: ' .. argv[5])
    end
  end
  local key = 'ql:th:' .. id
  call('hmset', key, 'id', id, 'maximum', string.format('%.0f', maximum))
  if ttl and ttl > 0 then
    call('pexpire', key, string.format('%.0f', math.ceil(ttl * 1000)))
  else
    call('persist', key)
  end
  need('throttle/wake')(id)
end, true
elseif name == 'throttle.get' then
return function(argv)
  local id = argv[3]
  if not id then error('Throttle(): Arg "id" missing') end
  return '{"id":' .. cjson.encode(id) .. ',"maximum":' .. string.format('%.0f', need('throttle/maximum')(id)) ..
    ',"ttl":' .. redis.call('ttl', 'ql:th:' .. id) .. '}'
end, true
elseif name == 'throttle.delete' then
return function(argv)
  local id = argv[3]
  if not id then error('Throttle(): Arg "id" missing') end
  if need('throttle/reserved')(id) then error('Throttle(): Arg "id" ends in -locks or -pending: ' .. id) end
  redis.call('del', 'ql:th:' .. id)
  need('throttle/wake')(id)
end, true
elseif name == 'throttle.locks' then
return function(argv)
  local id = argv[3]
  if not id then error('Throttle(): Arg "id" missing') end
  local jids = redis.call('zrange', 'ql:th:' .. id .. '-locks', 0, -1)
  return jids[1] and cjson.encode(jids) or '[]'
end, true
elseif name == 'throttle.pending' then
return function(argv)
  local id = argv[3]
  if not id then error('Throttle(): Arg "id" missing') end
  local jids = redis.call('zrange', 'ql:th:' .. id .. '-pending', 0, -1)
  return jids[1] and cjson.encode(jids) or '[]'
end, true
elseif name == 'throttle.release' then
return function(argv)
  local call, id = redis.call, argv[3]
  if not id then error('Throttle(): Arg "id" missing') end
  if argv[10004] then error('Throttle(): more than 10000 jids') end
  local key = 'ql:th:' .. id
  for i = 4, #argv do
    local jid = argv[i]
    local job = redis.pcall('hmget', 'ql:j:' .. jid, 'state', 'queue', 'throttles')
    local value = call('zscore', key .. '-pending', jid)
    call('zrem', key .. '-pending', jid)
    if job[1] == 'throttled' and job[2] then
      local keep, queue = {}, job[2]
      local ids = need('job/tags')(job[3])
      for k = 1, #ids do
        if ids[k] ~= id then keep[#keep + 1] = ids[k] end
      end
      if #keep < #ids then
        value = value or call('zscore', 'ql:q:' .. queue .. '-throttled', jid) or '0'
        call('hset', 'ql:j:' .. jid, 'throttles', keep[1] and cjson.encode(keep) or '[]')
        need('throttle/return_to_work')(jid, queue, ids, value)
      end
    end
    call('zrem', key .. '-locks', jid)
  end
  need('throttle/wake')(id)
end, true
elseif name == 'queue.throttle.get' then
return function(argv)
  local queue = argv[3]
  if not queue then error('Queue(): no queue name provided') end
  local id = 'ql:q:' .. queue
  local maximum = need('value/number')(redis.pcall('hget', 'ql:config', queue .. '-max-concurrency'))
  maximum = math.max(0, math.floor(maximum or 0))
  return '{"id":' .. cjson.encode(id) .. ',"maximum":' .. string.format('%.0f', maximum) ..
    ',"ttl":' .. redis.call('ttl', 'ql:th:' .. id) .. '}'
end, true
elseif name == 'queue.throttle.set' then
return function(argv)
  local queue, maximum = argv[3], need('value/number')(argv[4])
  if not queue then error('Queue(): no queue name provided') end
  if not maximum or maximum % 1 ~= 0 then
    error('Throttle(): Arg "maximum" not an integer: ' .. tostring(argv[4]))
  end
  if maximum < 0 then error('Throttle(): Arg "maximum" below 0, which pause is for: ' .. argv[4]) end
  local id, text = 'ql:q:' .. queue, string.format('%.0f', maximum)
  redis.call('hmset', 'ql:th:' .. id, 'id', id, 'maximum', text)
  redis.call('hset', 'ql:config', queue .. '-max-concurrency', text)
end, true
elseif name == 'key.get' then
return function(argv)
  local lane = argv[3]
  if not lane then error('Key(): Arg "key" missing') end
  local from, count = tonumber(argv[4] or 0), tonumber(argv[5] or 10000)
  if not from or from % 1 ~= 0 or from < 0 or from > 9e15 then error('Key(): Arg "offset" is not a whole number') end
  if not count or count % 1 ~= 0 or count < 0 then error('Key(): Arg "count" is not a whole number') end
  local last = from + math.min(count, 10000) - 1
  local encode, rows = cjson.encode, {}
  local jids = last < from and {} or redis.call('zrange', 'ql:k:' .. lane, from, last)
  for i = 1, #jids do
    local job = redis.pcall('hmget', 'ql:j:' .. jids[i], 'state', 'queue')
    rows[i] = '{"jid":' .. encode(jids[i]) .. ',"state":' .. encode(job[1] or '') .. ',"queue":' ..
      encode(job[2] or '') .. '}'
  end
  return '{"key":' .. encode(lane) .. ',"jobs":[' .. table.concat(rows, ',') .. ']}'
end, true
elseif name == 'check.slice' then
local judges = {
  job = 'judge/job',
  recurring = 'judge/recurring',
  work = 'index/member',
  locks = 'index/member',
  scheduled = 'index/member',
  depends = 'index/member',
  throttled = 'index/member',
  recur = 'index/recur',
  worker = 'index/worker',
  group = 'index/group',
  failed = 'index/failed',
  unlisted = 'index/unlisted',
  entries = 'index/entries',
  tag = 'index/tag',
  lane = 'index/lane',
  slots = 'index/slots',
  pending = 'index/pending',
  completed = 'index/completed',
  completed_in = 'index/completed_in',
  failed_times = 'index/failed_times',
  tracked = 'index/tracked',
  key = 'key/key',
  cycle = 'judge/cycle',
}
local judges_of_names = {
  queues = 'index/queues',
  failures = 'index/failures',
  tags = 'index/tags',
  workers = 'index/workers',
  paused_queues = 'index/paused_queues',
  config = 'index/config',
}
return function(argv, now, t)
  local mode, findings, run, kind, name = argv[3], argv[4], argv[5], argv[6], argv[7]
  if mode ~= 'look' and mode ~= 'mend' then error('Check(): "look" or "mend" missing') end
  if not name then error('Check(): findings, run, kind or name missing') end
  if mode == 'mend' and run == '' then error('Check(): a repair needs the name of its run') end
  if #argv - 7 > 200 then error('Check(): more than 200 items') end
  local judge_name = judges[kind]
  if kind == 'names' then
    judge_name = judges_of_names[name]
    if not judge_name then error('Check(): unknown names ' .. name) end
  elseif not judge_name then
    error('Check(): unknown kind ' .. kind)
  end
  local c, unknown = need('judge/context')(now, t, mode == 'mend', run, findings)
  if not c then error('Check(): unknown finding ' .. unknown) end
  local judge = need(judge_name)(c, name, kind)
  if kind == 'cycle' or kind == 'entries' then
    local judged, others = judge(need('value/args_from')(argv, 8))
    judged, others = judged or #argv - 7, others or {}
    if c.pending[1] then c.flush() end
    if judged < #argv - 7 or others[1] then c.rows[#c.rows + 1] = {'' .. judged, unpack(others)} end
  else
    local step = kind == 'unlisted' and 2 or 1
    for i = 8, #argv, step do
      judge(argv[i], argv[i + 1])
      if c.pending[1] then
        c.flush()
        if c.refused then break end
      end
      if c.cost > 4000 and i + step <= #argv and name ~= 'together' then
        c.rows[#c.rows + 1] = {'' .. i + step - 8}
        break
      end
    end
  end
  return c.rows
end
elseif name == 'check.revert' then
local function read(key, item, before, after)
  local function text(word)
    if word == '-' then return false end
    if string.byte(word) ~= 43 then error('Check(): "-" or "+" missing before ' .. word) end
    return string.sub(word, 2)
  end
  item, before, after = text(item), text(before), text(after)
  if string.sub(key, 1, #'ql:') ~= 'ql:' then error('Check(): not under the prefix: ' .. key) end
  if not item then
    if after and (before or string.sub(after, 1, #'ql:lost:') ~= 'ql:lost:') then
      error('Check(): no change: ' .. key)
    end
    if before and not string.find(before, '^%d+$') then error('Check(): no change: ' .. key) end
    return {after and 'move' or before and 'expiry' or 'delete', key, item, before, after}
  end
  local kind = need('key/kind')(string.sub(key, #'ql:' + 1))
  if not kind then error('Check(): no key of ours: ' .. key) end
  if kind ~= 'hash' and (string.sub(key, 1, #'ql:j:') == 'ql:j:'
    or string.sub(key, 1, #'ql:th:') == 'ql:th:') then
    local held = redis.call('type', key)
    if (held.ok or held) == 'hash' then kind = 'hash' end
  end
  if kind == 'zset' then
    for _, score in ipairs({before or '0', after or '0'}) do
      local n = tonumber(score)
      if not n or n ~= n then error('Check(): score is not a number: ' .. score) end
    end
  elseif kind == 'list' and not string.find(item, '^%d+$') or #item > 1000000 then
    error('Check(): index is not a number: ' .. item)
  end
  return {kind, key, item, before, after}
end
return function(argv)
  if #argv == 2 or (#argv - 2) % 4 ~= 0 then error('Check(): key, item, before and after for each change') end
  local changes, call = {}, redis.call
  for i = 3, #argv, 4 do changes[#changes + 1] = read(argv[i], argv[i + 1], argv[i + 2], argv[i + 3]) end
  local current, write, back = need('repair/current'), need('repair/write')(), 0
  local function holds(key, index, text)
    local place = redis.pcall('lpos', key, text, 'RANK', index == 0 and 1 or -1)
    if type(place) ~= 'table' then return place and place >= index end
    for from = index, call('llen', key) - 1, 1000 do
      local page = call('lrange', key, from, from + 999)
      for i = 1, #page do
        if page[i] == text then return true end
      end
    end
    return false
  end
  local gone, ahead = {}, {}
  for i = 1, #changes do
    local kind, key, _, before, after = unpack(changes[i])
    if kind == 'list' and after and not before and current(kind, key, 0) ~= nil and not holds(key, 0, after) then
      gone[i], ahead[key] = true, (ahead[key] or 0) + 1
    end
  end
  local function unchanged(kind, key, item, before, after)
    if kind == 'move' then return call('exists', after) == 1 and call('exists', key) == 0 end
    if kind == 'expiry' then return call('ttl', key) == -1 end
    if kind == 'delete' then return false end
    local held = current(kind, key, item)
    if kind == 'hash' and not after and call('exists', key) == 0 then return false end
    if kind == 'list' and not after then
      local index = math.max(0, tonumber(item) - (ahead[key] or 0))
      return held ~= nil and call('llen', key) >= tonumber(item) and not holds(key, index, before)
    end
    if kind == 'zset' and held and after then return tonumber(held) == tonumber(after) end
    return held == after
  end
  for i = 1, #changes do
    local kind, key, item, before, after = unpack(changes[i])
    if gone[i] then ahead[key] = ahead[key] - 1 end
    local done = unchanged(kind, key, item, before, after)
    if done then
      if kind == 'move' then
        done = write({{kind, after, false, false, key}}, back > 0)
      elseif kind == 'expiry' then
        done = redis.pcall('pexpire', key, math.max(1, tonumber(before))) == 1
      else
        done = write({{kind, key, item, after, before}}, back > 0)
      end
    end
    if done then back = back + 1 end
  end
  return {'' .. back, '' .. (#changes - back)}
end, true
elseif name == 'lag' then
return function(argv, now, t)
  local call, pcall = redis.call, redis.pcall
  local number, parts, seen = need('value/number'), {}, {}
  if not argv[3] then error('Queue(): no queue name provided') end
  if argv[10003] then error('Lag(): more than 10000 queues') end
  for i = 3, #argv do
    local queue = argv[i]
    local base, since = 'ql:q:' .. queue, now
    local function consider(when)
      if when and when < since then since = when end
    end
    local first = call('zrevrange', base .. '-work', 0, 0, 'WITHSCORES')
    if first[1] then
      local key = 'ql:j:' .. first[1]
      local priority, score = number(pcall('hget', key, 'priority')), number(first[2])
      local queued = priority and score and (priority - score) * 10000000000
      if not queued or queued <= 0 then
        local newest = pcall('lrange', key .. '-history', -1, -1)
        queued = not newest.err and number(need('history/entry_time')(newest[1]))
      end
      consider(queued)
    end
    consider(number(call('zrangebyscore', base .. '-scheduled', '-inf', t, 'WITHSCORES', 'LIMIT', 0, 1)[2]))
    consider(number(call('zrangebyscore', base .. '-locks', '-inf', t, 'WITHSCORES', 'LIMIT', 0, 1)[2]))
    if not seen[queue] then
      local lag = math.floor((now - since) * 1000 + 0.5) / 1000
      parts[#parts + 1] = cjson.encode(queue) .. ':' .. string.format('%.14g', lag)
    end
    seen[queue] = true
  end
  return '{' .. table.concat(parts, ',') .. '}'
end
elseif name == 'bury' then
return function(argv, now, t, seconds)
  local call = redis.call
  local jid, group, message = argv[3], argv[4], argv[5]
  if not jid then error('Job(): no jid provided') end
  if not group then error('Bury(): Arg "group" missing') end
  if not message then error('Bury(): Arg "message" missing') end
  local key = 'ql:j:' .. jid
  local job = call('hmget', key, 'state', 'worker', 'queue', 'history', 'grace', 'scheduled', 'throttles')
  local state, queue, worker = job[1], job[3] or '', job[2] or ''
  if not state and not job[3] then error('Bury(): Job ' .. jid .. ' does not exist') end
  if state ~= 'waiting' and state ~= 'scheduled' and state ~= 'depends' and state ~= 'stalled'
    and state ~= 'throttled' then
    error('Bury(): Job ' .. jid .. ' is ' .. tostring(state))
  end
  local age, fault = need('failure/age')(redis.pcall('hget', 'ql:config', 'jobs-failed-history'))
  if fault then error('Bury(): ' .. fault) end
  if job[4] then need('history/migrate')(jid, job[4]) end
  need('history/append')(jid, '[' .. seconds .. ',"failed",{"group":' .. cjson.encode(group) .. ',"worker":""}]')
  need('job/leave')(now, jid, state, queue, job[7])
  call('publish', 'ql:log', need('failure/event')(jid, group, message, ''))
  if call('zscore', 'ql:tracked', jid) then call('publish', 'ql:failed', jid) end
  if worker ~= '' then call('zrem', 'ql:w:' .. worker .. ':jobs', jid) end
  call('hmset', key, 'state', 'failed', 'worker', '', 'expires', '', 'failure',
    need('failure/encode')(group, message, seconds, ''))
  if job[5] then call('hdel', key, 'grace') end
  if job[6] then call('hdel', key, 'scheduled') end
  need('failure/enter')(now, jid, group, queue)
  if age then need('failure/forget_old')(now, t, {jid}, age) end
  return jid
end
elseif name == 'queueIdentifierPatterns.getAll' then
return function()
  local reply = redis.call('hgetall', 'ql:qp:identifiers')
  if not reply[1] then
    reply = redis.pcall('hgetall', 'qmore:dynamic')
    if reply.err then reply = {} end
  end
  local patterns, names, parts = {default = '["*"]'}, {}, {}
  for i = 1, #reply, 2 do patterns[reply[i]] = reply[i + 1] end
  for name in pairs(patterns) do names[#names + 1] = name end
  table.sort(names)
  for i = 1, #names do parts[i] = cjson.encode(names[i]) .. ':' .. cjson.encode(patterns[names[i]]) end
  return '{' .. table.concat(parts, ',') .. '}'
end, true
elseif name == 'queueIdentifierPatterns.setAll' then
return function(argv)
  if #argv % 2 == 1 then error('Odd number of identifier patterns: ' .. #argv - 2) end
  local fields, has_default = {}, false
  local pattern_list = need('queue/pattern_list')
  for i = 3, #argv, 2 do
    if pattern_list(cjson.decode(argv[i + 1]))[1] then
      has_default = has_default or argv[i] == 'default'
      fields[#fields + 1], fields[#fields + 2] = argv[i], argv[i + 1]
    end
  end
  if not has_default then fields[#fields + 1], fields[#fields + 2] = 'default', '["*"]' end
  redis.call('del', 'ql:qp:identifiers')
  redis.pcall('del', 'qmore:dynamic')
  for i = 1, #fields, 2 do redis.call('hset', 'ql:qp:identifiers', fields[i], fields[i + 1]) end
end, true
elseif name == 'queuePriorityPatterns.getAll' then
return function()
  local list = redis.call('lrange', 'ql:qp:priorities', 0, -1)
  if not list[1] then
    list = redis.pcall('lrange', 'qmore:priority', 0, -1)
  end
  if not list[1] then list = {'{"fairly": false, "pattern": ["default"]}'} end
  return cjson.encode(list)
end, true
elseif name == 'queuePriorityPatterns.setAll' then
return function(argv)
  local list, has_default = need('value/args_from')(argv, 3), false
  local pattern_list = need('queue/pattern_list')
  for i = 1, #list do
    local object = cjson.decode(list[i])
    local patterns = pattern_list(type(object) == 'table' and object.pattern)
    has_default = has_default or #patterns == 1 and patterns[1] == 'default'
  end
  if list[1] and not has_default then list[#list + 1] = '{"fairly": false, "pattern": ["default"]}' end
  redis.call('del', 'ql:qp:priorities')
  redis.pcall('del', 'qmore:priority')
  need('value/in_chunks')('rpush', 'ql:qp:priorities', list, 1, #list)
end, true
end
end
if KEYS[1] then error('No Keys should be provided') end
local name, t = ARGV[1], ARGV[2]
if not name then error('Must provide a command') end
local run, timeless = need(name, true)
if not run then error('Unknown command ' .. name) end
if not t then error("bad argument #1 to 'tonumber' (value expected)") end
local now = tonumber(t)
if ARGV[100003] then error('More than 100000 args') end
if not now or now - now ~= 0 then error('Arg "now" missing or not a number: nil') end
if timeless then return run(ARGV) end
local seconds = string.match(t, '^([1-9]%d*)%.?%d*$')
if not seconds then t, seconds = string.format('%.17g', now), '' .. math.floor(now) end
return run(ARGV, now, t, seconds)
