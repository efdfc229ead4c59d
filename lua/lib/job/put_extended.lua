-- Puts a job that has throttles, a lane, or a queue with defaults. The caller has checked everything.
-- Takes: now; t; seconds; the job as job/put takes it; its stored fields; the stored `<queue>-defaults`, or false. The
--   job may have `coordination`, the options given (option/read), and there to restore a job, `lane` and `payloads`;
--   `who`, the command as errors name it, if that is not `Put`; `merge_max`, the setting `merge-max`, if the caller
--   has read it
-- Result: the jid that took the job; its state, or `merged`, `skipped`, `replaced` if another job took it; the jid
--   that it waits for in its lane, or nil. Or nil, `cycle` and the jids of the cycle: if a job of the lane, or the job
--   that this one would replace, came to wait for itself. Then only dead entries have left the lane
-- Refuses: options that want a key, if the job has none
-- Publishes: as job/put; `skipped` to the channel of the extensions
local Old = Fields('job/put', 'throttles')
local Job = Fields('lane/live')

return function(now, t, seconds, job, old, stored_defaults)
  local call, encode, queue, jid, given = redis.call, cjson.encode, job.queue, job.jid, job.coordination or {}
  local key = Keys.job .. jid
  local defaults = type(stored_defaults) == 'string' and need('option/defaults')(stored_defaults) or {}
  given.score = given.score or defaults.score or now
  local exists = old[Old.state] or old[Old.tags] or old[Old.worker]
  local old_lane, old_dup
  if old[Old.throttles] then
    old_lane, old_dup = unpack(call('hmget', key, 'key', 'dup'))
  end
  local lane = old_lane
  if given.lane or given.key then
    lane = given.lane or given.key ~= '' and need('lane/name')(queue, given.key)
  elseif not lane and defaults.key then
    local text = need('option/expand')(defaults.key, queue, job.klass, job.data)
    if text and #text > 512 then text = redis.sha1hex(text) end
    lane = text and text ~= '' and need('lane/name')(queue, text)
  end
  if given.keyed and not lane then
    error((job.who or 'Put') .. '(): "' .. given.keyed .. '" cannot be used without "key"')
  end
  -- No dependent of a job that stays in its lane must become its dependency. `guard.put` has looked already.
  if exists and lane and lane == old_lane and not job.who and job.pending and job.pending[1] then
    local path, trouble = need('dependency/find_cycle')(jid, job.pending)
    if trouble then error('Put(): Arg "depends": ' .. trouble) end
    if path then return nil, 'cycle', path end
  end
  local dup, last, place, last_fields = given.dup or lane and not exists and defaults.dup, nil, nil, nil
  if lane and not exists then
    last, last_fields, place = need('lane/last')(now, lane)
    -- Remove a failed job that an older script left in the lane: the job that takes this put must not wait for it.
    if last and last_fields[Job.state] == 'depends' then need('lane/heal')(now, lane, last) end
    if dup then
      local met = {lane = lane, dup = dup, last = last, fields = last_fields}
      local took, how, path = need('lane/duplicate')(now, job, given, defaults, met)
      if how == 'replaced' then
        jid, key, exists, job.jid = last, Keys.job .. last, 'replaced', last
        old, old_lane, old_dup = call('hmget', key, unpack(Old)), lane, last_fields[Job.dup]
      elseif how then
        return took, how, path
      end
    end
  end
  -- Read the dependencies again: the lane changes them, and the put may have become that of another job.
  if lane or old_lane then job.related = nil end
  if not exists then
    job.priority, job.retries = job.priority or defaults.priority, job.retries or defaults.retries
  end
  local list, maxima = need('option/throttles')(given, old[Old.throttles], defaults, queue, job.klass, job.data)
  job.ids = list or old[Old.throttles] and need('job/tags')(old[Old.throttles])
  job.gate = job.ids and need('throttle/gate')(now, t, seconds, queue)
  if job.gate then
    job.gate.give(maxima)
    if job.maxima then job.gate.assume(job.maxima) end
  end
  for i = 1, job.ids and #job.ids or 0 do
    -- Read the set that would hold the job before the first write: a key of another type refuses the put here.
    if job.gate.free(job.ids[i]) <= 0 then
      call('zcard', Keys.throttle .. job.ids[i] .. Keys.pending)
      call('zcard', Keys.queue .. queue .. Keys.throttled)
    end
  end
  local merges = lane and (dup or old_dup) == 'merge'
  if merges then call('zcard', key .. Keys.payloads) end
  if lane and exists then call('zcard', Keys.lane .. lane) end
  if exists == 'replaced' or merges and not exists then call('llen', key .. Keys.history) end
  if old[Old.throttles] then
    need('throttle/leave')(jid, old[Old.state], old[Old.queue] or '', old[Old.throttles])
  end
  if old_lane and old_lane ~= lane then
    need('lane/leave')(now, old_lane, jid)
    need('lane/close_window')(old_lane, jid)
  end
  local hold, behind = given.hold, nil
  if hold == nil and not (exists and old_lane) then hold = defaults.hold end
  if lane and (not job.failed or hold) then
    local rank = exists and call('zrank', Keys.lane .. lane, jid)
    if rank and not need('lane/live')(lane, jid) then
      -- Remove the entry of an earlier failure, which an older script left in the lane.
      need('lane/leave')(now, lane, jid)
      rank = false
    end
    if not exists then
      need('lane/heal')(now, lane, last)
      need('lane/append')(lane, jid, place)
      behind = last
    elseif rank then
      job.kept = need('lane/before')(now, lane, jid, rank)
    else
      behind = need('lane/join')(now, lane, jid, true)
    end
    if behind then
      job.kept, job.pending = behind, need('value/without')(job.pending or {}, {[behind] = true})
      table.insert(job.pending, 1, behind)
    end
  end
  if merges then
    job.data = need('merge/begin')(jid, job.data, given, old_dup ~= 'merge')
  elseif old_dup then
    call('del', key .. Keys.payloads)
    call('hdel', key, 'dup', 'rescore')
  end
  local fields, drop = job.fields or {}, {}
  local plain = #fields
  local function store(name, value, or_delete)
    if value then
      fields[#fields + 1], fields[#fields + 2] = name, value
    elseif or_delete then
      drop[#drop + 1] = name
    end
  end
  local backoff = given.backoff
  if backoff == nil and not exists then backoff = defaults.backoff end
  if lane ~= old_lane then store('key', lane, old_lane) end
  store('dup', merges and 'merge')
  store('rescore', merges and (given.rescore or defaults.rescore))
  store('hold', hold and lane and '1', hold == false or not lane)
  -- Store an empty text, which means no back-off, only if the queue's defaults would give the job one.
  local none = backoff == '' and not defaults.backoff
  store('backoff', not none and backoff, none)
  if list then
    store('throttles', list[1] and encode(list) or '[]')
  elseif not old[Old.throttles] and fields[plain + 1] then
    store('throttles', '[ ]')
  end
  job.fields = fields[1] and fields
  local state = need('job/put')(now, t, seconds, job, old)
  if job.gate then job.gate.wake() end
  if drop[1] and exists then call('hdel', key, unpack(drop)) end
  local ttl = given.ttl or defaults.ttl
  if dup == 'skip' and ttl and lane and not exists then
    -- The time in the value ends the window. The key expires an hour later, to remove what no client closed.
    call('set', Keys.window .. lane, string.format('%.17g', now + ttl) .. ' ' .. jid, 'PX',
      string.format('%.0f', math.min(ttl * 1000, 1e14) + 3600000))
  end
  return jid, exists == 'replaced' and 'replaced' or state, behind or job.kept
end
