-- Puts a job that has throttles or a lane, or whose queue has defaults. The caller has validated the arguments.
-- Takes: now; t; seconds; the job as job/put takes it; its stored fields; the stored `<queue>-defaults`, or false. The
--   job may have `coordination`, the options given (option/read), and there to restore a job, `lane` and `payloads`;
--   `who`, the command as errors name it, if that is not `Put`; `merge_max`, the setting `merge-max`, if the caller
--   has read it
-- Result: the jid of the job that took the put; its state, or `merged`, `skipped` or `replaced` if that is another job;
--   the jid for which it waits in its lane, or nil. If a job would come to wait for itself through its lane: nil,
--   `cycle` and the jids of that cycle; then nothing is put, and only entries of jobs that ended have left the lane
-- Refuses: options that require a lane key, if the job has none
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
  -- Search the new dependencies for a cycle if the job stays in its lane. `guard.put` has done this already.
  if exists and lane and lane == old_lane and not job.who and job.pending and job.pending[1] then
    local path, trouble = need('dependency/find_cycle')(jid, job.pending)
    if trouble then error('Put(): Arg "depends": ' .. trouble) end
    if path then return nil, 'cycle', path end
  end
  local dup, last, place, last_fields = given.dup or lane and not exists and defaults.dup, nil, nil, nil
  if lane and not exists then
    last, last_fields, place = need('lane/last')(now, lane)
    -- Remove failed jobs that an older script left in the lane: the last job, which may take this put, waits for them.
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
  -- Let job/put read the dependencies again: the lane changes them, and the put may now replace another job.
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
    -- Before the first write, read the sets in which the job would wait for a slot: a key of another type raises here.
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
      -- Remove the job's old entry in the lane, which an older script left there when the job failed.
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
  -- An empty text means no back-off. Store it only if the queue's defaults would otherwise give the job a back-off.
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
    -- The uniqueness window ends at the time in the value. The key expires an hour later, if no call has deleted it.
    call('set', Keys.window .. lane, string.format('%.17g', now + ttl) .. ' ' .. jid, 'PX',
      string.format('%.0f', math.min(ttl * 1000, 1e14) + 3600000))
  end
  return jid, exists == 'replaced' and 'replaced' or state, behind or job.kept
end
