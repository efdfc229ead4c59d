-- The end of a job's JSON object: its throttles, lane, back-off, fence and payloads, as far as it has them.
-- Takes: jid; the reply of job/read; in its field `ext` that of job/extension, if the caller has read it
-- Result: the text
local Job = Fields('job/read')
local Ext = Fields('job/extension')

return function(jid, job)
  local encode, ids = cjson.encode, need('job/tags')(job[Job.throttles])
  local ext = job.ext or need('job/extension')(jid)
  local text = ids[1] and ',"throttles":' .. encode(ids) or ''
  if ext[Ext.key] then text = text .. ',"key":' .. encode(ext[Ext.key]) end
  if ext[Ext.hold] == '1' then text = text .. ',"hold":true' end
  local backoff = ext[Ext.backoff]
  if backoff and backoff ~= '' and backoff ~= '[]' and backoff ~= '{}' then
    text = text .. ',"backoff":' .. encode(backoff)
  end
  local fence = (ids[1] or ext[Ext.key]) and need('value/number')(ext[Ext.fence])
  if fence then text = text .. ',"fence":' .. string.format('%.0f', fence) end
  if ext[Ext.dup] == 'merge' then
    local set = redis.pcall('zrange', Keys.job .. jid .. Keys.payloads, 0, -1, 'WITHSCORES')
    local rows = {}
    for i = 1, #set, 2 do
      -- JSON has no infinity: write the largest number of that sign instead.
      local score = math.max(-1.7976931348623157e308, math.min(1.7976931348623157e308, tonumber(set[i + 1])))
      rows[#rows + 1] = '[' .. encode(set[i]) .. ',' .. string.format('%.17g', score) .. ']'
    end
    if rows[1] then text = text .. ',"payloads":[' .. table.concat(rows, ',') .. ']' end
  end
  return text .. '}'
end
