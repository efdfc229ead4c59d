-- Makes the gate of a call, which decides whether jobs may take slots of their throttles. It reads each throttle once.
-- Takes: now; t; seconds; queue
-- Result: the gate `g`. `g.free(id)` is the number of free slots; `g.full(jid, ids)` is the first id that has no slot
--   for the job, nil if it may run; `g.take(jid, ids)` takes the slots, `g.release(jid, ids)` releases
--   them; `g.wake()` has to follow when the call has read its last job: it moves jobs that were held to free slots;
--   `g.give(maxima)` gives throttles that have no maximum one, by id, which `g.wake()` writes if the throttle was read;
--   `g.assume(maxima)` decides by these maxima in place of the present ones, which the caller replaces afterwards;
--   `g.healed` is set if a slot was taken from a job that does not run, whose end may have released other jobs;
--   `g.before_heal` is called before that, if the caller sets it
return function(now, t, seconds, queue)
  local call, pcall, g, free, healed, released, fresh = redis.call, redis.pcall, {}, {}, {}, {}, {}
  local given, unset, assumed = {}, {}, {}

  function g.give(maxima)
    for id, maximum in pairs(maxima) do given[id], free[id] = maximum, nil end
  end

  function g.assume(maxima) assumed, free = maxima, {} end

  function g.free(id)
    local count = free[id]
    if not count then
      local maximum, is_unset = assumed[id], false
      if not maximum then maximum, is_unset = need('throttle/maximum')(id, given[id]) end
      if is_unset then unset[id] = maximum end
      local held = maximum ~= 0 and pcall('zcard', Keys.throttle .. id .. Keys.locks)
      -- If the key of the slots has another type, the throttle has no limit: a damaged key must not stop the queue.
      count = type(held) == 'number' and maximum - held or math.huge
      free[id] = count
    end
    return count
  end

  function g.full(jid, ids)
    for i = 1, #ids do
      local id = ids[i]
      if g.free(id) <= 0 and not call('zscore', Keys.throttle .. id .. Keys.locks, jid) then
        if not healed[id] then
          healed[id] = true
          if g.before_heal then g.before_heal() end
          if need('throttle/heal')(now, t, seconds, id, queue, fresh) > 0 then released[id], g.healed = true, true end
          -- Read all throttles again: a job that throttle/heal just ended may have had slots of other throttles, too.
          free = {}
        end
        if g.free(id) <= 0 then return id end
      end
    end
  end

  function g.take(jid, ids)
    fresh[jid] = true
    for i = 1, #ids do
      local id = ids[i]
      if pcall('zadd', Keys.throttle .. id .. Keys.locks, 'NX', t, jid) == 1 and free[id] then
        free[id] = free[id] - 1
      end
    end
  end

  function g.release(jid, ids)
    for i = 1, #ids do
      local id = ids[i]
      if pcall('zrem', Keys.throttle .. id .. Keys.locks, jid) == 1 then
        released[id], free[id] = true, nil
      end
    end
  end

  function g.wake()
    for id, maximum in pairs(unset) do
      call('hmset', Keys.throttle .. id, 'id', id, 'maximum', string.format('%.0f', maximum))
      need('throttle/enlist')(t, id)
    end
    for id in pairs(released) do need('throttle/wake')(id) end
  end
  return g
end
