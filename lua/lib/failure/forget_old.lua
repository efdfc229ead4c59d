-- Notes when jobs failed, and deletes the jobs that failed too long ago, as `cancel` does. A job is deleted only if it
-- is failed, has been so all the time, and no job depends on it: other scripts leave entries of jobs that wait or run.
-- It comes last in a call, because it may delete the jobs that have just failed.
-- Takes: now; t; jids that failed; how many seconds failed jobs are kept
-- Publishes: as job/delete
local call, pcall_redis = redis.call, redis.pcall

-- The maximum number of entries that one call reads, and of jobs that it deletes. The next call continues.
local most_read, most_deleted = 200, 100

-- Whether a job that exists names this one as its dependency. Of more than 100 dependents, one is taken for granted.
local function has_dependents(jid)
  local key = Keys.job .. jid .. Keys.dependents
  local count = pcall_redis('scard', key)
  if count == 0 then return false end
  if type(count) ~= 'number' or count > 100 then return true end
  local names = call('smembers', key)
  for i = 1, #names do
    local other = Keys.job .. names[i]
    local edge = call('exists', other) == 1 and pcall_redis('sismember', other .. Keys.dependencies, jid)
    if edge == 1 then return true end
  end
  return false
end

-- Deletes jobs. Returns those that cannot be deleted, because one of their keys is of another type.
local function delete(now, jids)
  local run, related = need('job/delete'), need('dependency/any_related')(jids, 1, #jids)
  local tracked = call('exists', Keys.tracked) == 1
  if pcall(run, now, jids, related, tracked) then return {} end
  local left = {}
  for i = 1, #jids do
    if not pcall(run, now, {jids[i]}, true, tracked) then left[#left + 1] = jids[i] end
  end
  return left
end

return function(now, t, jids, age)
  local in_chunks, times, entries = need('value/in_chunks'), Keys.failed_times, {}
  for i = 1, #jids do entries[2 * i - 1], entries[2 * i] = t, jids[i] end
  in_chunks('zadd', times, entries, 1, #entries)
  local last = now - age
  local page = call('zrangebyscore', times, '-inf', string.format('%.17g', last), 'LIMIT', 0, most_read)
  local old, kept, drop = {}, {}, {}
  local number, decode = need('value/number'), need('failure/decode')
  for i = 1, #page do
    local jid = page[i]
    if #old == most_deleted then break end
    local job = pcall_redis('hmget', Keys.job .. jid, 'state', 'failure')
    local when = number(decode(job[2]).when)
    if job[1] ~= 'failed' then
      drop[#drop + 1] = jid
    elseif when and when > last then
      -- It failed again since, under a script that does not note it.
      call('zadd', times, string.format('%.17g', when), jid)
    elseif not when or has_dependents(jid) then
      kept[#kept + 1] = jid
    else
      old[#old + 1] = jid
    end
  end
  if drop[1] then in_chunks('zrem', times, drop, 1, #drop) end
  local left = old[1] and delete(now, old) or {}
  for i = 1, #left do kept[#kept + 1] = left[i] end
  -- Jobs that stay must not hide those behind them.
  if #page == most_read and #kept >= most_deleted then
    local later = {}
    for i = 1, #kept do later[2 * i - 1], later[2 * i] = t, kept[i] end
    in_chunks('zadd', times, later, 1, #later)
  end
end
