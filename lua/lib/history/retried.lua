-- Adds to the history of a job that a worker retried it, and why, so that the next attempt does not hide the reason.
-- Takes: jid; seconds; worker; `group` of the failure, its `message` and the `exit` code of the command, as far as they
--   are known; the setting `max-job-history`
-- Result: nil, or the error reply if the history is no list: then nothing is written

-- Maximum length of a message in bytes. A longer message loses its middle, because some programs write the reason
-- first and others last.
local LONGEST = 500

-- The first position from `at` on, in steps of `step` (1 or -1), at which a UTF-8 character begins.
local function character_start(text, at, step)
  for _ = 1, 3 do
    local byte = string.byte(text, at) or 0
    if byte < 128 or byte > 191 then return at end
    at = at + step
  end
  return at
end

return function(jid, seconds, worker, failure, limit)
  local group, message, code = failure.group, failure.message, failure.exit
  if message and #message > LONGEST then
    local half = math.floor((LONGEST - 5) / 2)
    message = string.sub(message, 1, character_start(message, half + 1, -1) - 1) .. ' \226\128\166 ' ..
      string.sub(message, character_start(message, #message - half + 1, 1))
  end
  local encode, key = cjson.encode, Keys.job .. jid .. Keys.history
  local length = redis.pcall('rpush', key, '[' .. seconds .. ',"retried",{"worker":' .. encode(worker) ..
    (group and ',"group":' .. encode(group) or '') .. (message and ',"message":' .. encode(message) or '') ..
    (code and ',"exit":' .. code or '') .. '}]')
  if type(length) == 'table' then return length end
  if length > limit then need('history/trim')(key, length, limit) end
end
