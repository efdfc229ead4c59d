-- Decides whether throttles would let jobs run in a pop. Writes nothing. A slot that the pop would drop counts as free.
-- Takes: now; the queue of the pop; a table with a maximum, by id, for throttles that have none stored, or nil
-- Result: a function of jid and ids, which returns whether the job would get a slot of each
return function(now, queue, maxima)
  local pcall, free = redis.pcall, {}
  local grace = need('value/number')(pcall('hget', Keys.config, 'grace-period')) or 10
  local judge = need('throttle/holder')
  local function is_free(id, jid)
    if free[id] == nil then
      local locks, maximum = Keys.throttle .. id .. Keys.locks, need('throttle/maximum')(id, maxima and maxima[id])
      local held = maximum ~= 0 and pcall('zcard', locks)
      local count = type(held) == 'number' and maximum - held or math.huge
      for _, holder in ipairs(count <= 0 and pcall('zrange', locks, 0, 2) or {}) do
        if judge(now, id, holder, queue, grace) then count = count + 1 end
      end
      free[id] = count > 0
    end
    return free[id] or type(pcall('zscore', Keys.throttle .. id .. Keys.locks, jid)) == 'string'
  end
  return function(jid, ids)
    for _, id in ipairs(ids) do
      if not is_free(id, jid) then return false end
    end
    return true
  end
end
