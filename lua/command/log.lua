-- Appends an entry to the history of a job. Data that is not an object becomes the field `data` of one.
-- Takes: jid message [data]
-- Refuses: a missing job, data that is not JSON
return function(argv, _, _, seconds)
  local jid, message, data = argv[3], argv[4], argv[5]
  if not jid then error("Log(): Argument 'jid' missing") end
  if not message then error("Log(): Argument 'message' missing") end
  local entry = '[' .. seconds .. ',' .. cjson.encode(message)
  if data then
    local value = cjson.decode(data)
    -- The decoder stops at a NUL: store only the part before it, encoded again.
    if string.find(data, '\0', 1, true) then data = cjson.encode(value) end
    if value == false then error("Log(): Argument 'data' not cjson: " .. data) end
    if string.byte(data) ~= 123 and not string.find(data, '^%s*{') then data = '{"data":' .. data .. '}' end
    entry = entry .. ',' .. data .. ']'
    -- Data that cannot be encoded again, or that is nested too deeply once it is inside the history, would break every
    -- read of the job. The encoder or decoder raises its own error for such data.
    cjson.encode(value)
    if #data > 1900 then cjson.decode('[' .. '[' .. entry .. ']' .. ']') end
  else
    entry = entry .. ']'
  end
  local call, key = redis.call, Keys.job .. jid
  local job = call('hmget', key, 'jid', 'history')
  if not job[1] and call('exists', key) == 0 then error('Log(): Job ' .. jid .. ' does not exist') end
  if job[2] then need('history/migrate')(jid, job[2]) end
  local length = call('rpush', key .. Keys.history, entry)
  local limit = need('history/limit')()
  if length > limit then need('history/trim')(key .. Keys.history, length, limit) end
end
