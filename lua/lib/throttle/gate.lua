-- Decides for one call which jobs their throttles let run. What it has read once, it keeps.
-- Takes: now; t; seconds; queue
-- Returns: the gate `g`. `g.room(id)` is the number of free slots; `g.full(jid, ids)` is the first id that has no slot
--   for the job, nil if it may run; `g.take(jid, ids)` takes the slots, `g.give(jid, ids)` gives them back;
--   `g.wake()` has to follow when the call has read its last job: slots were dropped or given back meanwhile
return function(now, t, seconds, queue)
  local call, pcall, g, rooms, healed, freed, fresh = redis.call, redis.pcall, {}, {}, {}, {}, {}

  function g.room(id)
    local room = rooms[id]
    if not room then
      local most = need('throttle/maximum')(id)
      local held = most ~= 0 and pcall('zcard', Keys.throttle .. id .. Keys.locks)
      -- A key of another type must not stop a queue: the throttle limits nothing then.
      room = type(held) == 'number' and most - held or math.huge
      rooms[id] = room
    end
    return room
  end

  function g.full(jid, ids)
    for i = 1, #ids do
      local id = ids[i]
      if g.room(id) <= 0 and not call('zscore', Keys.throttle .. id .. Keys.locks, jid) then
        if not healed[id] then
          healed[id] = true
          if need('throttle/heal')(now, t, seconds, id, queue, fresh) > 0 then freed[id] = true end
          rooms[id] = nil
        end
        if g.room(id) <= 0 then return id end
      end
    end
  end

  function g.take(jid, ids)
    fresh[jid] = true
    for i = 1, #ids do
      local id = ids[i]
      if pcall('zadd', Keys.throttle .. id .. Keys.locks, 'NX', t, jid) == 1 and rooms[id] then
        rooms[id] = rooms[id] - 1
      end
    end
  end

  function g.give(jid, ids)
    for i = 1, #ids do
      local id = ids[i]
      if pcall('zrem', Keys.throttle .. id .. Keys.locks, jid) == 1 then
        freed[id], rooms[id] = true, nil
      end
    end
  end

  function g.wake()
    for id in pairs(freed) do need('throttle/wake')(id) end
  end
  return g
end
