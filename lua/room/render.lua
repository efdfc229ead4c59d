-- Writes a job as the JSON that clients know. One damaged field never breaks a reply: it is
-- shown as empty.
local encode = cjson.encode

-- What many jobs of one reply share is made once.
local events, numbers, names = {}, {}, {}

-- A number with 14 digits, as cjson writes it; 0 where it is none.
local function number(text)
  if text == '0' or #text < 15 and string.find(text, '^[1-9]%d*$') then return text end
  local json = numbers[text]
  if not json then
    local n = tonumber(text)
    json = n and n - n == 0 and '' .. n or '0'
    numbers[text] = json
  end
  return json
end

local function name(text)
  local json = names[text]
  if not json then
    json = encode(text)
    names[text] = json
  end
  return json
end

-- A stored document, if it parses to a table, else `{}`.
local function document(text)
  local ok, json = pcall(cjson.decode, text)
  if not ok or type(json) ~= 'table' then return '{}' end
  ok, json = pcall(encode, json)
  return ok and json or '{}'
end

-- One history entry as an object, or '' if it does not parse. Entries of the usual shapes are
-- taken apart as text, which costs a third of decoding and encoding them.
local function event(entry)
  local when, what, rest = string.match(entry, '^%[(%d+),("[%w%-]+")(.*)%]$')
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

local function history(key)
  local list = redis.call('lrange', key, 0, -1)
  local count = 0
  for i = 1, #list do
    local entry = list[i]
    local json = events[entry]
    if not json then
      json = event(entry)
      events[entry] = json
    end
    if json ~= '' then
      count = count + 1
      list[count] = json
    end
  end
  if count == 0 then
    return '{}'
  elseif count == 1 then
    return '[' .. list[1] .. ']'
  elseif count == 2 then
    return '[' .. list[1] .. ',' .. list[2] .. ']'
  end
  return '[' .. table.concat(list, ',', 1, count) .. ']'
end

local function members(key)
  local list = redis.call('smembers', key)
  if not list[1] then return '{}' end
  table.sort(list)
  return encode(list)
end

-- Returns a job as JSON. `job`: what `read` answered; `tracked`: whether it is; `related`: whether
-- it may have dependencies or dependents; `before`: the text to stand in front.
return function(jid, job, tracked, related, before)
  local key = Keys.job .. jid
  if job[14] then need('migrate')(jid, job[14]) end
  local dependents, dependencies = '{}', '{}'
  if related then
    dependents, dependencies = members(key .. Keys.dependents), members(key .. Keys.dependencies)
  end
  local remaining, tags, failure = job[9] or '0', job[11], job[12]
  if not string.find(remaining, '^%d+$') then
    local n = tonumber(remaining)
    remaining = n and n - n == 0 and '' .. math.floor(n) or '0'
  end
  if tags ~= '{}' then tags = tags and document(tags) or '{}' end
  if failure ~= '{}' then failure = failure and document(failure) or '{}' end
  return before .. '{"jid":' .. encode(jid) .. ',"klass":' .. name(job[2]) .. ',"state":' .. (job[3] == 'running' and '"running"' or name(job[3])) ..
    ',"queue":' .. name(job[4]) .. ',"worker":' .. (job[5] == '' and '""' or name(job[5] or '')) .. ',"tracked":' ..
    (tracked and 'true' or 'false') .. (job[6] and ',"priority":' .. number(job[6]) or '') .. ',"expires":' ..
    number(job[7] or '') .. (job[8] and ',"retries":' .. number(job[8]) or '') .. ',"remaining":' .. remaining ..
    ',"data":' .. encode(job[10]) .. ',"tags":' .. tags .. ',"history":' .. history(key .. Keys.history) ..
    ',"failure":' .. failure .. ',"spawned_from_jid":' .. (job[13] and encode(job[13]) or 'false') ..
    ',"dependents":' .. dependents .. ',"dependencies":' .. dependencies .. '}'
end
