-- Deletes complete jobs older than `jobs-history` seconds and beyond the newest `jobs-history-count`.
-- Takes: now; the stored settings `jobs-history` and `jobs-history-count`
-- Returns: how many jobs were deleted or removed from the set

-- The maximum number of jobs that one call deletes. The next call continues.
local most = 1000

local function delete(jids)
  local call, tags_of, untag = redis.call, need('job/tags'), need('job/untag')
  for i = 1, #jids do
    local jid = jids[i]
    local key = Keys.job .. jid
    local job = call('hmget', key, 'state', 'tags')
    -- A job that runs again only leaves the set.
    if not job[1] or job[1] == 'complete' then
      if job[2] and job[2] ~= '{}' then
        local tags = tags_of(job[2])
        for k = 1, #tags do untag(jid, tags[k]) end
      end
      call('del', key, key .. Keys.history, key .. Keys.dependencies, key .. Keys.dependents)
    end
  end
  need('value/in_chunks')('zrem', Keys.completed, jids, 1, #jids)
end

return function(now, age, count)
  local call = redis.call
  age, count = tonumber(age), tonumber(count)
  if not age or age - age ~= 0 then age = 604800 end
  if not count or count - count ~= 0 then count = 50000 end
  local old = call('zrangebyscore', Keys.completed, '0', now - age, 'LIMIT', '0', most)
  if old[1] then delete(old) end
  -- A negative count has always meant: that many of the oldest.
  count = math.floor(count)
  local excess = count < 0 and -count or call('zcard', Keys.completed) - count
  if excess <= 0 or #old >= most then return #old end
  local beyond = call('zrange', Keys.completed, 0, math.min(excess, most - #old) - 1)
  delete(beyond)
  return #old + #beyond
end
