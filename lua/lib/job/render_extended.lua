-- Renders what a job has of throttles, lane, payloads and back-off: the end of its JSON object.
-- Takes: jid; the reply of job/read
-- Returns: the text
local Job = Fields('job/read')

return function(jid, job)
  local encode, ids = cjson.encode, need('job/tags')(job[Job.throttles])
  local text = ids[1] and ',"throttles":' .. encode(ids) or ''
  if job[Job.key] then text = text .. ',"key":' .. encode(job[Job.key]) end
  if job[Job.hold] == '1' then text = text .. ',"hold":true' end
  if job[Job.backoff] then text = text .. ',"backoff":' .. encode(job[Job.backoff]) end
  local fence = (ids[1] or job[Job.key]) and need('value/number')(job[Job.fence])
  if fence then text = text .. ',"fence":' .. string.format('%.0f', fence) end
  if job[Job.dup] == 'merge' then
    local set = redis.pcall('zrange', Keys.job .. jid .. Keys.payloads, 0, -1, 'WITHSCORES')
    local rows = {}
    for i = 1, #set, 2 do
      rows[#rows + 1] = '[' .. encode(set[i]) .. ',' .. string.format('%.17g', set[i + 1]) .. ']'
    end
    if rows[1] then text = text .. ',"payloads":[' .. table.concat(rows, ',') .. ']' end
  end
  return text .. '}'
end
