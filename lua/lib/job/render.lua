-- Renders a job as the JSON that clients know. A damaged field is rendered as empty and never breaks a reply.
-- Takes: jid; the reply of job/read; whether it is tracked; whether it may have dependencies or dependents; the
--   text to put in front; its holder, unless the reply of job/read has it: `worker` as JSON and `ends`, the end of the
--   lock
-- Result: the text
local Shown = Fields('job/read')

-- A history entry as a JSON object, `''` if it does not parse. Entries of the usual forms are split as
-- text, at a third of the cost of decoding and encoding.
-- Takes: entry
local function entry_json(entry)
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

-- The members of a set as a JSON array in a fixed order, `{}` if there are none.
-- Takes: key
local function set_json(key)
  local list = redis.pcall('smembers', key)
  if not list[1] then return '{}' end
  table.sort(list)
  return cjson.encode(list)
end

-- `events` keeps the JSON of history entries, because many jobs of a reply have equal entries.
local encode, events = cjson.encode, {}
-- The class, queue and state of the last job, each with its JSON. The next job often has equal ones.
local klass, klass_json, queue, queue_json, state, state_json

-- A stored number as text with up to 14 digits, as cjson writes it; 0 if the text is not a number.
local function number(text)
  if text == '0' then return text end
  local n, first = tonumber(text), string.byte(text)
  if not n or n - n ~= 0 then return '0' end
  -- A short text that begins with 1 to 9 already has at most 14 digits.
  return first > 48 and first < 58 and #text < 15 and text or '' .. n
end

return function(jid, job, tracked, related, before, holder)
  local key = Keys.job .. jid
  local legacy = job[Shown.history]
  if legacy and pcall(need('history/migrate'), jid, legacy) then legacy = nil end

  local list, count = redis.pcall('lrange', key .. Keys.history, '0', '-1'), 0
  -- Where the call must not write, as on a replica, a legacy history is shown without being moved.
  if legacy then
    for _, entry in ipairs(need('history/legacy')(legacy)) do list[#list + 1] = entry end
  end
  for i = 1, #list do
    local entry = list[i]
    local json = events[entry]
    if not json then
      json = entry_json(entry)
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
    dependents, dependencies = set_json(key .. Keys.dependents), set_json(key .. Keys.dependencies)
  end
  local remaining, tags, failure = '' .. (job[Shown.remaining] or 0), job[Shown.tags], job[Shown.failure]
  if #remaining ~= 1 or string.byte(remaining) < 48 or string.byte(remaining) > 57 then
    local n = tonumber(remaining)
    remaining = n and n - n == 0 and '' .. math.floor(n) or '0'
  end
  if tags ~= '{}' then tags = need('value/document')(tags) end
  if failure ~= '{}' then failure = failure and need('value/document')(failure) or '{}' end
  if job[Shown.klass] ~= klass or not klass then klass, klass_json = job[Shown.klass], encode(job[Shown.klass]) end
  if job[Shown.queue] ~= queue or not queue then queue, queue_json = job[Shown.queue], encode(job[Shown.queue]) end
  if job[Shown.state] ~= state or not state then state, state_json = job[Shown.state], encode(job[Shown.state]) end
  return before .. '{"jid":' .. encode(jid) .. ',"klass":' .. klass_json .. ',"state":' ..
    state_json .. ',"queue":' .. queue_json .. ',"worker":' ..
    (holder and holder.worker or encode(job[Shown.worker] or '')) .. ',"tracked":' .. (tracked and 'true' or 'false') ..
    (job[Shown.priority] and ',"priority":' .. number(job[Shown.priority]) or '') ..
    ',"expires":' .. (holder and holder.ends or number(job[Shown.expires] or '')) ..
    (job[Shown.retries] and ',"retries":' .. number(job[Shown.retries]) or '') ..
    ',"remaining":' .. remaining .. ',"data":' .. encode(job[Shown.data]) ..
    ',"tags":' .. tags .. ',"history":' .. history .. ',"failure":' .. failure ..
    ',"spawned_from_jid":' .. (job[Shown.spawned_from_jid] and encode(job[Shown.spawned_from_jid]) or 'false') ..
    ',"dependents":' .. dependents .. ',"dependencies":' .. dependencies ..
    (job[Shown.throttles] and need('job/render_extended')(jid, job) or '}')
end
