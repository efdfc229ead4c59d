-- Reads the size and one page of an index of jobs, queues or other names, in the order in which the core would use the
-- members. Writes nothing.
-- Takes: index name offset count
-- Result: total, member, ...
-- Refuses: a missing index or name, an offset or count that is not a whole number, unknown indexes, more than 10000
--   members
return function(argv)
  local call = redis.call
  local whole, index, name = need('value/whole'), argv[3], argv[4]
  local from, count = whole(argv[5], 0), whole(argv[6], 0)
  if not index or not name then error('Look(): index or name missing') end
  if not from or not count then error('Look(): offset and count must be whole numbers') end
  if count > 10000 then error('Look(): more than 10000 members') end
  local base = Keys.queue .. name
  local sets = {
    waiting = base .. Keys.work,
    locks = base .. Keys.locks,
    scheduled = base .. Keys.scheduled,
    depends = base .. Keys.depends,
    throttled = base .. Keys.throttled,
    recurring = base .. Keys.recur,
    worker = Keys.worker .. name .. Keys.held,
    tag = Keys.tag .. name,
    lane = Keys.lane .. name,
    complete = Keys.completed,
    tracked = Keys.tracked,
    queues = Keys.queues,
    workers = Keys.workers,
    tags = Keys.tags,
  }
  local reply = {}
  local function page(total, members)
    reply[1] = '' .. total
    for i = 1, #members do reply[i + 1] = members[i] end
    return reply
  end
  local last = from + count - 1
  if sets[index] then
    local key = sets[index]
    local total = call('zcard', key)
    if count == 0 then return page(total, {}) end
    local newest = index == 'waiting' or index == 'complete'
    return page(total, call(newest and 'zrevrange' or 'zrange', key, from, last))
  elseif index == 'failed' then
    local key = Keys.group .. name
    local total = call('llen', key)
    local members = count > 0 and call('lrange', key, -last - 1, -from - 1) or {}
    local oldest = {}
    for i = #members, 1, -1 do oldest[#oldest + 1] = members[i] end
    return page(total, oldest)
  elseif index == 'groups' or index == 'paused' or index == 'paused_recurring' then
    local all
    if index == 'paused_recurring' then
      all = {}
      local stored = call('hgetall', Keys.paused_recurring)
      for i = 1, #stored, 2 do all[#all + 1] = stored[i] end
    else
      all = call('smembers', index == 'groups' and Keys.failures or Keys.paused)
    end
    all = need('value/sort')(all)
    local members = {}
    for i = from + 1, math.min(last + 1, #all) do members[#members + 1] = all[i] end
    return page(#all, members)
  end
  error('Look(): unknown index ' .. index)
end
