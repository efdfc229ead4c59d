-- Decides for one call which jobs their throttles let run. What it has read once, it keeps.
-- Takes: now; t; seconds; queue
-- Returns: the gate `g`. `g.room(id)` is the number of free slots; `g.full(jid, ids)` is the first id that has no slot
--   for the job, nil if it may run; `g.take(jid, ids)` takes the slots; `g.wake()` has to follow when the call has
--   read its last job: slots of holders that do not run any more were dropped meanwhile
return function(now, t, seconds, queue)
  local call, pcall, g, rooms, healed, fresh = redis.call, redis.pcall, {}, {}, {}, {}

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
        if healed[id] == nil then
          healed[id] = need('throttle/heal')(now, t, seconds, id, queue, fresh)
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

  function g.wake()
    for id, count in pairs(healed) do
      if count > 0 then need('throttle/wake')(id) end
    end
  end
  return g
end
