-- Adds a job to one of a queue's sets: the set for its state, which is not `running`.
-- Takes: now; t; jid; the queue, or a record of it (`base`, `work`, `scheduled`, and `scores` by priority if all jobs
--   are placed at the same time): then the entry is only collected, and queue/enter writes it; the state: `depends`,
--   `scheduled` or `waiting`; the due time as text (for `depends` or nil), or the stored priority of a waiting job
-- Result: true if the due time was stored in a field of the job, because the job is in state `depends`
return function(now, t, jid, queue, state, value)
  local record = type(queue) == 'table' and queue
  local base, score = record and record.base or Keys.queue .. queue, value
  if state == 'depends' then
    redis.call('zadd', base .. Keys.depends, t, jid)
    if value then redis.call('hset', Keys.job .. jid, 'scheduled', value) end
    return value and true
  end
  local scores = record and record.scores
  if state == 'waiting' then
    score = scores and scores[value]
    if not score then
      -- The computation of queue/score, repeated here to save a function call in most puts.
      local priority = tonumber(value) or 0
      if priority - priority ~= 0 then priority = 0 end
      score = priority - now / 10000000000
      if scores then
        score = string.format('%.17g', score)
        scores[value] = score
      end
    end
  end
  if not record then
    redis.call('zadd', base .. (state == 'waiting' and Keys.work or Keys.scheduled), score, jid)
    return
  end
  local list = state == 'waiting' and record.work or record.scheduled
  local n = #list
  list[n + 1], list[n + 2] = score, jid
end
