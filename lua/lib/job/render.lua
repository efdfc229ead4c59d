-- Renders a job as the JSON that clients know. A damaged field is rendered as empty and never breaks a reply.
-- Takes: jid; the reply of job/read; whether it is tracked; whether it may have dependencies or dependents; the
--   text to put in front
-- Returns: the text
local Job = Fields('job/read')

-- The JSON of history entries, which many jobs of one reply share.
local encode, events, event_of = cjson.encode, {}, nil
-- The JSON of the last names, which the next job often shares.
local klass, klass_json, queue, queue_json

-- Returns a number with 14 digits, as cjson writes it; 0 if the text is not a number.
local function number(text)
  if text == '0' then return text end
  local n, first = tonumber(text), string.byte(text)
  if not n or n - n ~= 0 then return '0' end
  -- A short text that begins with 1 to 9 already has at most 14 digits.
  return first > 48 and first < 58 and #text < 15 and text or '' .. n
end

return function(jid, job, tracked, related, before)
  local key = Keys.job .. jid
  if job[Job.history] then need('history/migrate')(jid, job[Job.history]) end

  local list, count = redis.pcall('lrange', key .. Keys.history, 0, -1), 0
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
    dependents, dependencies = members(key .. Keys.dependents), members(key .. Keys.dependencies)
  end
  local remaining, tags, failure = '' .. (job[Job.remaining] or 0), job[Job.tags], job[Job.failure]
  if #remaining ~= 1 or string.byte(remaining) < 48 or string.byte(remaining) > 57 then
    local n = tonumber(remaining)
    remaining = n and n - n == 0 and '' .. math.floor(n) or '0'
  end
  if tags ~= '{}' then tags = need('value/document')(tags) end
  if failure ~= '{}' then failure = failure and need('value/document')(failure) or '{}' end
  if job[Job.klass] ~= klass or not klass then klass, klass_json = job[Job.klass], encode(job[Job.klass]) end
  if job[Job.queue] ~= queue or not queue then queue, queue_json = job[Job.queue], encode(job[Job.queue]) end
  return before .. '{"jid":' .. encode(jid) .. ',"klass":' .. klass_json .. ',"state":' ..
    encode(job[Job.state]) .. ',"queue":' .. queue_json .. ',"worker":' ..
    encode(job[Job.worker] or '') .. ',"tracked":' .. (tracked and 'true' or 'false') ..
    (job[Job.priority] and ',"priority":' .. number(job[Job.priority]) or '') ..
    ',"expires":' .. number(job[Job.expires] or '') ..
    (job[Job.retries] and ',"retries":' .. number(job[Job.retries]) or '') ..
    ',"remaining":' .. remaining .. ',"data":' .. encode(job[Job.data]) ..
    ',"tags":' .. tags .. ',"history":' .. history .. ',"failure":' .. failure ..
    ',"spawned_from_jid":' .. (job[Job.spawned_from_jid] and encode(job[Job.spawned_from_jid]) or 'false') ..
    ',"dependents":' .. dependents .. ',"dependencies":' .. dependencies ..
    (job[Job.throttles] and need('job/render_extended')(jid, job) or '}')
end
