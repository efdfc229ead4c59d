-- Writes a job as the JSON that clients know. One damaged field never breaks a reply: it is
-- shown as empty.
-- What many jobs of one reply share is made once: history entries, numbers and names.
local events, numbers, names, event_of = {}, {}, {}, nil

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
    json = cjson.encode(text)
    names[text] = json
  end
  return json
end

-- Returns a job as JSON. `job`: what `read` answered; `tracked`: whether it is; `related`: whether
-- it may have dependencies or dependents; `before`: the text to stand in front.
return function(jid, job, tracked, related, before)
  local key = Keys.job .. jid
  if job[14] then need('migrate')(jid, job[14]) end

  local list, count = redis.call('lrange', key .. Keys.history, 0, -1), 0
  for i = 1, #list do
    local entry = list[i]
    local json = events[entry]
    if not json then
      event_of = event_of or need('event')
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
    local members = need('set_json')
    dependents, dependencies = members(key .. Keys.dependents), members(key .. Keys.dependencies)
  end
  local remaining, tags, failure = job[9] or '0', job[11], job[12]
  if not string.find(remaining, '^%d+$') then
    local n = tonumber(remaining)
    remaining = n and n - n == 0 and '' .. math.floor(n) or '0'
  end
  if tags ~= '{}' then tags = need('document')(tags) end
  if failure ~= '{}' then failure = failure and need('document')(failure) or '{}' end
  return before .. '{"jid":' .. cjson.encode(jid) .. ',"klass":' .. name(job[2]) .. ',"state":' ..
    (job[3] == 'running' and '"running"' or name(job[3])) .. ',"queue":' .. name(job[4]) .. ',"worker":' ..
    (job[5] == '' and '""' or name(job[5] or '')) .. ',"tracked":' .. (tracked and 'true' or 'false') ..
    (job[6] and ',"priority":' .. number(job[6]) or '') .. ',"expires":' .. number(job[7] or '') ..
    (job[8] and ',"retries":' .. number(job[8]) or '') .. ',"remaining":' .. remaining .. ',"data":' ..
    cjson.encode(job[10]) .. ',"tags":' .. tags .. ',"history":' .. history .. ',"failure":' .. failure ..
    ',"spawned_from_jid":' .. (job[13] and cjson.encode(job[13]) or 'false') .. ',"dependents":' .. dependents ..
    ',"dependencies":' .. dependencies .. '}'
end
