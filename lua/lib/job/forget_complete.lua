-- Deletes completed jobs older than `jobs-history` seconds, then the oldest if more than `jobs-history-count` remain.
-- Takes: now; the stored settings `jobs-history` and `jobs-history-count`
-- Result: how many jobs were deleted or removed from the set

-- The maximum number of jobs that one call deletes, and of tags that it removes from their index. The next call
-- continues.
local max_jobs, max_tags = 1000, 20000

-- Deletes completed jobs until their tags reach the limit.
-- Result: how many of the jobs it deleted or removed from the set
local function delete(jids)
  local call, tags_of, untag = redis.call, need('job/tags'), need('job/untag')
  local done, left = #jids, max_tags
  for i = 1, #jids do
    if left <= 0 then
      done = i - 1
      break
    end
    local jid = jids[i]
    local key = Keys.job .. jid
    local job = call('hmget', key, 'state', 'tags')
    -- Delete the job if it is complete. A job that runs again only leaves the set.
    if not job[1] or job[1] == 'complete' then
      if job[2] and job[2] ~= '{}' then
        local tags = tags_of(job[2])
        untag(jid, tags)
        left = left - #tags
      end
      call('del', key, key .. Keys.history, key .. Keys.dependencies, key .. Keys.dependents)
    end
  end
  need('value/in_chunks')('zrem', Keys.completed, jids, 1, done)
  return done
end

return function(now, age, count)
  local call = redis.call
  age, count = tonumber(age), tonumber(count)
  if not age or age - age ~= 0 then age = 604800 end
  if not count or count - count ~= 0 then count = 50000 end
  local old = call('zrangebyscore', Keys.completed, '0', now - age, 'LIMIT', '0', max_jobs)
  local gone = old[1] and delete(old) or 0
  -- A negative count means to delete that many of the oldest jobs, as in qless-core.
  count = math.floor(count)
  local excess = count < 0 and -count or call('zcard', Keys.completed) - count
  if excess <= 0 or #old >= max_jobs or gone < #old then return gone end
  return gone + delete(call('zrange', Keys.completed, 0, math.min(excess, max_jobs - #old) - 1))
end
