-- Resumes a paused template: restores its fields and its entry in the schedule of its queue. Runs that fell into the
-- pause are left out; runs that were due before the pause remain due.
-- Takes: now; t; jid; its document
-- Result: the time of the next run as text, nil if it has none
return function(now, t, jid, document)
  local call, fields = redis.call, document.named
  call('hmset', Keys.recurring .. jid, unpack(document.fields))
  local queue, next_run = fields.queue or '', document.next
  local first, since, interval = tonumber(next_run), tonumber(document.since), tonumber(fields.interval)
  if first and since and interval and interval > 0 then
    local function runs_until(at) return at < first and 0 or math.floor((at - first) / interval) + 1 end
    local missed = runs_until(now) - runs_until(since)
    if missed > 0 then next_run = string.format('%.17g', first + missed * interval) end
  end
  if next_run then call('zadd', Keys.queue .. queue .. Keys.recur, next_run, jid) end
  call('zadd', Keys.queues, 'NX', t, queue)
  call('hdel', Keys.paused_recurring, jid)
  return next_run
end
