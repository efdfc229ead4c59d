-- The set of complete jobs, and how long they are kept.
local call = redis.call
local Completed = {}

-- The most jobs that one call deletes; the next call goes on.
local most = 1000

local function delete(jids)
  for i = 1, #jids do
    local jid = jids[i]
    local key = Keys.job .. jid
    local job = call('hmget', key, 'state', 'tags')
    -- A job that runs again is only taken off the set.
    if not job[1] or job[1] == 'complete' then
      need('tags').drop_all(jid, job[2])
      call('del', key, key .. Keys.history, key .. Keys.dependencies, key .. Keys.dependents)
    end
  end
  need('many')('zrem', Keys.completed, jids, 1, #jids)
end

-- Deletes complete jobs older than `jobs-history` seconds and beyond the newest
-- `jobs-history-count`. `age`, `count`: the stored settings.
function Completed.expire(now, age, count)
  age, count = tonumber(age), tonumber(count)
  if not age or age - age ~= 0 then age = 604800 end
  if not count or count - count ~= 0 then count = 50000 end
  local old = call('zrangebyscore', Keys.completed, 0, now - age, 'LIMIT', 0, most)
  if old[1] then delete(old) end
  local excess = call('zcard', Keys.completed) - math.max(0, math.floor(count))
  if excess > 0 and #old < most then
    delete(call('zrange', Keys.completed, 0, math.min(excess, most - #old) - 1))
  end
end

return Completed
