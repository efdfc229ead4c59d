-- Adds a completed job to the list of its queue, in which qless-php pages through completed jobs. The list has the
-- limits of age and size that `ql:completed` has.
-- Takes: now; t; jid; queue; the stored settings `jobs-history` and `jobs-history-count`
return function(now, t, jid, queue, age, count)
  local call, number, key = redis.call, need('value/number'), Keys.queue .. queue .. Keys.completed_in
  if type(redis.pcall('zadd', key, t, jid)) ~= 'number' then return end
  local old = call('zcount', key, '-inf', string.format('%.17g', now - (number(age) or 604800)))
  -- A negative count -N means to remove the N oldest jobs, as for `ql:completed`.
  count = math.floor(number(count) or 50000)
  local excess = count < 0 and -count or call('zcard', key) - count
  -- Remove at most 1000 jobs in one call. The next call continues.
  local gone = math.min(1000, math.max(old, excess))
  if gone > 0 then need('value/in_chunks')('zrem', key, call('zrange', key, 0, gone - 1), 1, gone) end
end
