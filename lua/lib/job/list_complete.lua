-- Lists a complete job for qless-php, which pages them by the queue in which they were completed. The list has the
-- limits of `ql:completed`.
-- Takes: now; t; jid; queue; the stored settings `jobs-history` and `jobs-history-count`
return function(now, t, jid, queue, age, count)
  local call, number, key = redis.call, need('value/number'), Keys.queue .. queue .. Keys.completed_in
  if type(redis.pcall('zadd', key, t, jid)) ~= 'number' then return end
  local old = call('zcount', key, '-inf', string.format('%.17g', now - (number(age) or 604800)))
  -- A negative count means to remove that many of the oldest jobs, as for `ql:completed`.
  count = math.floor(number(count) or 50000)
  local excess = count < 0 and -count or call('zcard', key) - count
  -- At most 1000 in one call: the next one continues.
  local gone = math.min(1000, math.max(old, excess))
  if gone > 0 then need('value/in_chunks')('zrem', key, call('zrange', key, 0, gone - 1), 1, gone) end
end
