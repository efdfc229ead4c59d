-- Applies the completion of a job to its lane and its throttles, if it has any or gets any for its next queue.
-- Takes: now; jid; queue; the next queue, or nil; its stored throttles, or false; the options given (option/read), or
--   nil
-- Result: a table of two functions. `join` takes the dependencies of the job, and moves the job into the lane of a
--   new key, or to the end of its own lane if a dependency waits for it there. It returns the dependencies, with
--   the job before it in the lane. `run` does the rest after the job has been written
-- Refuses: options that require a key, if the job has none
local Ext = Fields('job/extension')

return function(now, jid, queue, following, throttles, given)
  local call, key, steps = redis.call, Keys.job .. jid, {}
  local ext = throttles and need('job/extension')(jid) or {}
  local lane, dup = ext[Ext.key], ext[Ext.dup]
  local new = lane
  if given and given.key then new = given.key ~= '' and need('lane/name')(following, given.key) end
  if given and given.keyed and not new then
    error('Complete(): "' .. given.keyed .. '" cannot be used without "key"')
  end

  function steps.join(pending)
    -- Move the job behind jobs of its lane on which it comes to depend: they wait for it only while it is before
    -- them.
    local closes_cycle = lane and pending and pending[1] and need('dependency/find_cycle')(jid, pending, true) ~= nil
    if new == lane and not closes_cycle then return pending end
    -- Raise an error here if a key has another type, before the lanes change.
    call('llen', key .. Keys.history)
    if new then call('zcard', Keys.lane .. new) end
    for i = 1, pending and #pending or 0 do call('scard', Keys.job .. pending[i] .. Keys.dependents) end
    if lane then need('lane/leave')(now, lane, jid) end
    local before = new and need('lane/join')(now, new, jid, true)
    if not before then return pending end
    local all = {before}
    for i = 1, pending and #pending or 0 do
      if pending[i] ~= before then all[#all + 1] = pending[i] end
    end
    return all
  end

  function steps.run(data)
    if dup == 'merge' then
      call('del', key .. Keys.payloads)
      call('hdel', key, 'dup', 'rescore')
    end
    if lane and not following then need('lane/leave')(now, lane, jid, true) end
    if throttles then need('throttle/leave')(jid, 'running', queue, throttles) end
    if not given then return end
    if new then call('hset', key, 'key', new) elseif lane then call('hdel', key, 'key', 'hold') end
    local job = call('hmget', key, 'klass', 'throttles')
    local list = need('option/throttles')(given, job[2], nil, following, job[1] or '', data)
    if list then
      call('hset', key, 'throttles', list[1] and cjson.encode(list) or '[]')
    elseif not job[2] then
      call('hset', key, 'throttles', '[ ]')
    end
    if given.hold ~= nil then
      if given.hold then call('hset', key, 'hold', '1') else call('hdel', key, 'hold') end
    end
    if given.backoff == '' then
      call('hdel', key, 'backoff')
    elseif given.backoff then
      call('hset', key, 'backoff', given.backoff)
    end
  end
  return steps
end
