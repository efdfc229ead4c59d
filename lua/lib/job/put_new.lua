-- Puts jobs whose keys do not exist, as job/put does, but writes the keys of queues and tags only once per call.
-- Takes: now; t; seconds; the function of value/key_fault; the progress of the call
-- Result: three functions. `queue` takes a name and returns the record of the queue (`bad`: what is wrong with its
--   keys). `put` takes such a record and a job (job/put_args), and returns the state, or nil and what is wrong.
--   `flush` writes the keys of queues and tags: call it before a job is read from its queue
-- Publishes: as job/put
return function(now, t, seconds, fault, progress)
  local call, encode, format, queues, names = redis.call, cjson.encode, string.format, {}, {}
  local stamp, place = format('%.20f', now), need('queue/place')
  local tracked, times = call('exists', Keys.tracked) > 0, call('exists', Keys.failed_times) > 0
  -- The put jobs. `flush` removes the failure times that earlier jobs with these jids may have left.
  local jids = {}
  -- `texts` and `faults`: for a list of tags, its JSON text or what is wrong with its keys. `entries`: for a tag, what
  -- to add to its index.
  local texts, faults, entries, tag_names = {}, {}, {}, {}

  local function queue_of(name)
    local queue = queues[name]
    if not queue then
      local base, json = Keys.queue .. name, encode(name)
      queue = {name = name, base = base, work = {}, scheduled = {}, scores = {},
        entry = '[' .. seconds .. ',"put",{"q":' .. json .. '}]', event = ',"event":"put","queue":' .. json .. '}'}
      queue.bad = fault('hash', Keys.config, 'zset', Keys.queues, 'zset', base .. Keys.work,
        'zset', base .. Keys.scheduled, 'zset', base .. Keys.depends, 'zset', Keys.tracked)
      queues[name], names[#names + 1] = queue, queue
    end
    return queue
  end

  -- Returns a list of tags as JSON text; nil and what is wrong if the key of a tag has a wrong type.
  local function text_of(tags)
    if not texts[tags] and not faults[tags] then
      local bad = fault('zset', Keys.tags)
      for i = 1, #tags do bad = bad or fault('zset', Keys.tag .. tags[i]) end
      texts[tags], faults[tags] = not bad and encode(tags), bad
    end
    return texts[tags], faults[tags]
  end

  local function put(queue, job)
    local jid, priority, retries, tags = job.jid, job.priority, job.retries, job.tags
    local key, stored = Keys.job .. jid, '{}'
    if tags and tags[1] then
      local bad
      stored, bad = text_of(tags)
      if bad then return nil, bad end
    end
    local history, entry = key .. Keys.history, queue.entry
    local length = redis.pcall('rpush', history, entry)
    if length ~= 1 then
      if type(length) == 'table' then
        return nil, need('value/wrong_type')(length, progress.wrote, 'list', history, 'rpush', history, entry)
      end
      -- An earlier job with this jid left its history, to which the entry was added: shorten it.
      local limit = need('history/limit')()
      if length > limit then need('history/trim')(history, length, limit) end
    end
    call('publish', Keys.on_log, '{"jid":' .. encode(jid) .. queue.event)
    if stored ~= '{}' then
      for i = 1, #tags do
        local list = entries[tags[i]]
        if not list then
          list = {}
          entries[tags[i]], tag_names[#tag_names + 1] = list, tags[i]
        end
        local n = #list
        list[n + 1], list[n + 2] = t, jid
      end
    end
    local due = (job.at and job.at > now or job.delay > 0) and (job.at or now + job.delay)
    local state = due and 'scheduled' or 'waiting'
    call('hmset', key, 'jid', jid, 'klass', job.klass, 'data', job.data, 'priority', priority or '0', 'tags', stored,
      'state', state, 'worker', '', 'expires', '0', 'queue', queue.name, 'retries', retries or '5',
      'remaining', retries and need('value/whole_tries')(retries) or '5', 'time', stamp)
    place(now, t, jid, queue, state, due or priority or 0)
    if times then jids[#jids + 1] = jid end
    if tracked and call('zscore', Keys.tracked, jid) then call('publish', Keys.on_put, jid) end
    return state
  end

  local function flush()
    local in_chunks = need('value/in_chunks')
    if jids[1] then need('failure/forget_times')(jids) end
    for i = 1, #tag_names do
      local tag = tag_names[i]
      local added = in_chunks('zadd', Keys.tag .. tag, entries[tag], 1, #entries[tag])
      if added > 0 then call('zincrby', Keys.tags, added, tag) end
    end
    entries, tag_names = {}, {}
    for i = 1, #names do
      local queue = names[i]
      if queue.work[1] or queue.scheduled[1] then
        need('queue/enter')(queue)
        call('zadd', Keys.queues, 'NX', t, queue.name)
        queue.work, queue.scheduled = {}, {}
      end
    end
  end
  return queue_of, put, flush
end
