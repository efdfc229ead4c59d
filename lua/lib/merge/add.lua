-- Adds a payload to a merge job, and writes the job's data from all payloads, because an older script may have changed
-- it. An equal payload is kept once, with the smaller score; with the larger one if `rescore` is `max`.
-- Takes: jid; payload; score; rescore; the maximum number of payloads of the job, or infinity
-- Result: whether the payload was added: false if the job has the maximum already, or if its data would become too
--   long. With the maximum infinity, every payload is added
return function(jid, payload, score, rescore, max_payloads)
  local call, key = redis.call, Keys.job .. jid
  -- The JSON decoder ignores text from a NUL on. Encode the decoded payload again, so that the job's data stays JSON.
  if string.find(payload, '%z') then payload = cjson.encode(cjson.decode(payload)) end
  local set = key .. Keys.payloads
  local stored, all, at = call('zrange', set, 0, -1, 'WITHSCORES'), {}, nil
  if #stored >= 2 * max_payloads then return false end
  local before, bytes = nil, #payload
  for i = 1, #stored, 2 do
    all[#all + 1], bytes = stored[i], bytes + #stored[i]
    if stored[i] == payload then before = tonumber(stored[i + 1]) end
    if tonumber(stored[i + 1]) >= score then at = at or #all end
  end
  if not before and max_payloads < math.huge and need('merge/too_long')(#all + 1, bytes) then return false end
  local worse = before and (rescore == 'max' and before >= score or rescore ~= 'max' and before <= score)
  if not worse then call('zadd', set, string.format('%.17g', score), payload) end
  -- A new payload with the largest score is last. Else read the order again: payloads of equal score are ordered by
  -- their bytes.
  if not before and not at then
    all[#all + 1] = payload
  elseif not worse then
    all = call('zrange', set, 0, -1)
  end
  call('hset', key, 'data', '[' .. table.concat(all, ',') .. ']')
  return true
end
