-- Puts a job that has throttles, a lane, or a queue with defaults. The caller has checked everything.
-- Takes: now t seconds me queue jid klass data delay; `o` as job/put takes it; its stored fields; `x`, the options
--   given (option/read), and to restore a job, `lane` and `payloads`; the stored
--   `<queue>-defaults`, or false; the command as errors name it; the setting `merge-max`, if the
--   caller has read it
-- Returns: the jid that took the job; its state, or `merged`, `skipped`, `replaced` if another job took it; the jid
--   that it waits for in its lane, or nil. Or nil, `cycle` and the jids of the cycle, if the job that it would replace
--   came to wait for itself: only dead entries have left the lane then
-- Refuses: options that want a key, if the job has none
-- Publishes: as job/put; `skipped` to the channel of the extensions
local Old = Fields('job/put', 'throttles')
local Job = Fields('lane/live')

return function(now, t, seconds, me, queue, jid, klass, data, delay, o, old, x, defaults, who, most)
  local call, encode, key = redis.call, cjson.encode, Keys.job .. jid
  local d = type(defaults) == 'string' and need('option/defaults')(defaults) or {}
  x.score = x.score or d.score or now
  local exists = old[Old.state] or old[Old.tags] or old[Old.worker]
  local home, was
  if old[Old.throttles] then
    local stored = call('hmget', key, 'key', 'dup')
    home, was = stored[1], stored[2]
  end
  local lane = home
  if x.lane or x.key then
    lane = x.lane or x.key ~= '' and need('lane/name')(queue, x.key)
  elseif not lane and d.key then
    local text = need('option/expand')(d.key, queue, klass, data)
    if text and #text > 512 then text = redis.sha1hex(text) end
    lane = text and text ~= '' and need('lane/name')(queue, text)
  end
  if x.keyed and not lane then error(who .. '(): "' .. x.keyed .. '" cannot be used without "key"') end

  local dup, last, place, other = x.dup or lane and not exists and d.dup, nil, nil, nil
  if lane and not exists then
    last, other, place = need('lane/last')(now, lane)
    -- An older script leaves a failed job in the lane. The job that takes this put must not wait for it.
    if last and other[Job.state] == 'depends' then need('lane/heal')(now, lane, last) end
    if dup then
      local took, how, path = need('lane/duplicate')(now, queue, jid, klass, data, lane, dup, last, other, o, x, d, who,
        most)
      if how == 'replaced' then
        jid, key, exists = last, Keys.job .. last, 'replaced'
        old, home, was = call('hmget', key, unpack(Old)), lane, other[Job.dup]
      elseif how then
        return took, how, path
      end
    end
  end

  if not exists then
    o.priority, o.retries = o.priority or d.priority, o.retries or d.retries
  end
  local list, maxima = need('option/throttles')(x, old[Old.throttles], d, queue, klass, data)
  o.ids = list or old[Old.throttles] and need('job/tags')(old[Old.throttles])
  o.gate = o.ids and need('throttle/gate')(now, t, seconds, queue)
  if o.gate then
    o.gate.give(maxima)
    if o.maxima then o.gate.assume(o.maxima) end
  end
  for i = 1, o.ids and #o.ids or 0 do
    -- What would hold the job is read before the first write: a key of another type refuses the put here.
    if o.gate.free(o.ids[i]) <= 0 then
      call('zcard', Keys.throttle .. o.ids[i] .. Keys.pending)
      call('zcard', Keys.queue .. queue .. Keys.throttled)
    end
  end
  local merges = lane and (dup or was) == 'merge'
  if merges then call('zcard', key .. Keys.payloads) end

  if old[Old.throttles] then
    need('throttle/leave')(jid, old[Old.state], old[Old.queue] or '', old[Old.throttles])
  end
  if home and home ~= lane then
    need('lane/leave')(now, home, jid)
    need('lane/close_window')(home, jid)
  end
  local hold, behind = x.hold, nil
  if hold == nil and not (exists and home) then hold = d.hold end
  if lane and (not o.failed or hold) then
    local rank = exists and call('zrank', Keys.lane .. lane, jid)
    if rank and not need('lane/live')(lane, jid) then
      -- An older script let it fail and left it here.
      need('lane/leave')(now, lane, jid)
      rank = false
    end
    if not exists then
      need('lane/heal')(now, lane, last)
      need('lane/append')(lane, jid, place)
      behind = last
    elseif rank then
      o.kept = need('lane/before')(now, lane, jid, rank)
    else
      behind = need('lane/join')(now, lane, jid, true)
    end
    if behind then
      o.kept = behind
      local pending = {behind}
      for i = 1, o.pending and #o.pending or 0 do
        if o.pending[i] ~= behind then pending[#pending + 1] = o.pending[i] end
      end
      o.pending = pending
    end
  end
  if merges then
    data = need('merge/begin')(jid, data, x, was ~= 'merge')
  elseif was then
    call('del', key .. Keys.payloads)
    call('hdel', key, 'dup', 'rescore')
  end
  local fields, drop = o.fields or {}, {}
  local plain = #fields
  local function store(name, value, none)
    if value then
      fields[#fields + 1], fields[#fields + 2] = name, value
    elseif none then
      drop[#drop + 1] = name
    end
  end
  local backoff = x.backoff
  if backoff == nil and not exists then backoff = d.backoff end
  if lane ~= home then store('key', lane, home) end
  store('dup', merges and 'merge')
  store('rescore', merges and (x.rescore or d.rescore))
  store('hold', hold and lane and '1', hold == false or not lane)
  -- An empty text says that the job wants none, whatever its queue has.
  local none = backoff == '' and not d.backoff
  store('backoff', not none and backoff, none)
  if list then
    store('throttles', list[1] and encode(list) or '[]')
  elseif not old[Old.throttles] and fields[plain + 1] then
    store('throttles', '[ ]')
  end
  o.fields = fields[1] and fields
  local state = need('job/put')(now, t, seconds, me, queue, jid, klass, data, delay, o, old)
  if o.gate then o.gate.wake() end
  if drop[1] and exists then call('hdel', key, unpack(drop)) end
  local ttl = x.ttl or d.ttl
  if dup == 'skip' and ttl and lane and not exists then
    -- The window counts by the time of the clients; the server only drops what nobody closed, an hour later.
    call('set', Keys.window .. lane, string.format('%.17g', now + ttl) .. ' ' .. jid, 'PX',
      string.format('%.0f', math.min(ttl * 1000, 1e14) + 3600000))
  end
  return jid, exists == 'replaced' and 'replaced' or state, behind or o.kept
end
