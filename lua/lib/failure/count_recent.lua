-- Counts the jobs of a failure group that failed since a time; their list begins with the newest job. Up to 16 the
-- count is exact. Above 16 it may be too low by a sixteenth, because each closer look would read another job.
-- Takes: the key of the group; its number of jobs; the time
local call, pcall = redis.call, redis.pcall
local decode = need('failure/decode')

-- When the job at an index of a failure list failed, or the next one if that is unknown, as of an entry without a job.
-- 0 if it is unknown of 16 jobs.
local function failed_at(key, index)
  for at = index, index + 15 do
    local jid = call('lrange', key, at, at)[1]
    local failure = jid and pcall('hget', Keys.job .. jid, 'failure')
    local when = type(failure) == 'string' and decode(failure).when
    if type(when) == 'number' then return when end
    if not jid then return 0 end
  end
  return 0
end

return function(key, size, since)
  if size == 0 or failed_at(key, 0) < since then return 0 end
  if size == 1 or failed_at(key, size - 1) >= since then return size end
  local low, high = 1, 8
  while high < size and failed_at(key, high - 1) >= since do low, high = high, high * 8 end
  high = math.min(high, size)
  while high - low > math.max(1, low / 16) do
    local middle = math.floor((low + high) / 2)
    if failed_at(key, middle - 1) >= since then low = middle else high = middle end
  end
  return low
end
