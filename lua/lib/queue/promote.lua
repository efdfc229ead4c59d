-- Moves due jobs from the schedule to the work set. Their age there counts from now, or from their due time if the
-- queue's defaults say so. Removes entries without a job, and entries of jobs in another state.
-- Takes: now; queue; jids
-- Result: how many it moved
local Job = Fields('state', 'priority', 'jid')

return function(now, queue, due)
  local call, base = redis.call, Keys.queue .. queue
  local work, scores, score_of = {}, {}, need('queue/score')
  local defaults = redis.pcall('hget', Keys.config, queue .. '-defaults')
  local by_due = type(defaults) == 'string' and (need('option/defaults')(defaults) or {}).due
  for i = 1, #due do
    local key = Keys.job .. due[i]
    local job = call('hmget', key, unpack(Job))
    local state = job[Job.state]
    if job[Job.jid] and (state == 'scheduled' or state == 'waiting') then
      local score = scores[job[Job.priority]]
      if not score or by_due then
        local time = by_due and call('zscore', base .. Keys.scheduled, due[i]) or now
        score = string.format('%.17g', score_of(time, job[Job.priority]))
        scores[job[Job.priority]] = score
      end
      work[#work + 1] = score
      work[#work + 1] = due[i]
      if state == 'scheduled' then call('hset', key, 'state', 'waiting') end
    end
  end
  local in_chunks = need('value/in_chunks')
  if work[1] then in_chunks('zadd', base .. Keys.work, work, 1, #work) end
  in_chunks('zrem', base .. Keys.scheduled, due, 1, #due)
  return #work / 2
end
