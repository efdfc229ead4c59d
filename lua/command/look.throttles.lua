-- Lists the throttles whose maximum the core has set, in the order in which they were set. Then lists the throttles and
-- lanes that hold a job back now. To find these, reads up to 100 throttled jobs and 100 jobs in state `depends` of each
-- queue; with `all`, of up to 500 queues, the oldest and the newest. A call ends early after about 5,000 commands. A
-- later call may list an item again. Leaves out throttles whose maximum has expired. Writes nothing.
-- Takes: [`all`, or `holding` for what holds a job back alone; the cursor of the call before]
-- Result: the next cursor, `''` at the end; a list of `limit`, id, maximum, seconds until it expires (-1: never, -2:
--   not set), slots taken, jobs that wait, whether it is listed; `lane`, lane, number of its jobs; `wrong`, key of a
--   wrong type, its throttle or nil; `omitted`, the number of queues that were not looked at
-- Refuses: another first word, a wrong cursor
local Held = Fields('state', 'queue', 'throttles')
local Behind = Fields('state', 'queue', 'key')

-- The first cursor of a list, by the first argument
local Begin = {all = 'limits -inf 0', holding = 'queues -inf 0'}

return function(argv)
  local begin = Begin[argv[3] or 'all']
  if not begin then error('Look(): neither all nor holding: ' .. argv[3]) end
  local part, since, skip = string.match(argv[4] or begin, '^(%l+) (%S+) (%d+)$')
  skip = need('value/whole')(skip, 0)
  if part ~= 'limits' and part ~= 'queues' or not skip
    or since ~= '-inf' and since ~= 'inf' and not need('value/number')(since) then
    error('Look(): wrong cursor: ' .. argv[4])
  end
  local maximum_of, decode, is_first = need('throttle/maximum'), need('job/tags'), need('lane/is_first')
  local read = need('value/read')
  local rows, limits, shown, lanes, wrong, max_cost, cost = {}, {}, {}, {}, {}, 5000, 0

  -- Runs a read. If the key has a wrong type, adds a row `wrong` for it and returns nil.
  local function run_read(id, command, key, ...)
    cost = cost + 1
    local reply, of_other_type = read(command, key, ...)
    if not of_other_type then return reply end
    -- The key of a throttle's set may be the hash of another throttle, whose id ends in `-locks` or `-pending`. Then
    -- the set is empty.
    if id and command == 'zcard' and type(redis.pcall('hget', key, 'maximum')) ~= 'table' then return 0 end
    local is_list = id and command == 'hget' and need('throttle/reserved')(id)
    if not is_list and not wrong[key] then
      wrong[key] = true
      rows[#rows + 1] = {'wrong', key, id}
    end
  end

  -- Returns the stored facts about a throttle, which one call reads only once; false if a key of it has a wrong type.
  local function facts_of(id)
    if limits[id] == nil then
      local key = Keys.throttle .. id
      local stored, locks = run_read(id, 'hget', key, 'maximum'), run_read(id, 'zcard', key .. Keys.locks)
      local pending, ttl = run_read(id, 'zcard', key .. Keys.pending), run_read(id, 'ttl', key)
      limits[id] = stored ~= nil and locks and pending
        and {maximum = maximum_of(id), ttl = ttl, locks = locks, pending = pending}
    end
    return limits[id]
  end

  local function add_limit(id, limit, listed)
    shown[id] = true
    rows[#rows + 1] = {'limit', id, string.format('%.0f', limit.maximum), '' .. limit.ttl, '' .. limit.locks,
      '' .. limit.pending, listed}
  end

  local function add_listed(id)
    local limit = facts_of(id)
    if limit and limit.ttl ~= -2 then add_limit(id, limit, '1') end
  end

  local function add_if_holding(id)
    local limit = not shown[id] and facts_of(id)
    if not limit then return end
    cost = cost + 1
    if limit.pending > 0 or limit.maximum ~= 0 and limit.locks >= limit.maximum then
      local is_listed = type(redis.pcall('zscore', Keys.throttles, id)) == 'string'
      add_limit(id, limit, is_listed and '1' or '0')
    end
  end

  local function add_if_behind(lane, jid)
    if lanes[lane] then return end
    cost = cost + 3
    if is_first(lane, jid) then return end
    lanes[lane] = true
    rows[#rows + 1] = {'lane', lane, '' .. (run_read(false, 'zcard', Keys.lane .. lane) or 0)}
  end

  local function add_holders(queue)
    local held, behind = Keys.queue .. queue .. Keys.throttled, Keys.queue .. queue .. Keys.depends
    -- Most queues have no throttled or dependent jobs: one EXISTS shows this, and nothing more is read.
    if run_read(false, 'exists', held, behind) == 0 then return end
    for _, jid in ipairs(run_read(false, 'zrange', held, 0, 99) or {}) do
      cost = cost + 1
      local job = redis.pcall('hmget', Keys.job .. jid, unpack(Held))
      if job[Held.state] == 'throttled' and job[Held.queue] == queue then
        for _, id in ipairs(decode(job[Held.throttles])) do add_if_holding(id) end
      end
    end
    for _, jid in ipairs(run_read(false, 'zrange', behind, 0, 99) or {}) do
      cost = cost + 1
      local job = redis.pcall('hmget', Keys.job .. jid, unpack(Behind))
      if job[Behind.state] == 'depends' and job[Behind.queue] == queue and job[Behind.key] then
        add_if_behind(job[Behind.key], jid)
      end
    end
  end

  -- Calls `add` with each member of a sorted set, from the cursor on. Of more than `max_read` members, takes the
  -- first and the last half of `max_read`. Returns false if the call has cost too much; else true, and how many members
  -- were left out.
  local function add_all(key, add, max_read)
    local size, half = run_read(false, 'zcard', key) or 0, max_read / 2
    local omitted = math.max(0, size - max_read)
    -- Read pages by rank, not by score: so a page costs no more if many members have one score.
    local from = (run_read(false, 'zcount', key, '-inf', '(' .. since) or 0) + skip
    while from < size do
      local last = from + 99
      if omitted > 0 and from < half then
        last = math.min(last, half - 1)
      elseif omitted > 0 and from < half + omitted then
        from = half + omitted
        since = run_read(false, 'zrange', key, from, from, 'WITHSCORES')[2]
        skip, last = from - run_read(false, 'zcount', key, '-inf', '(' .. since), from + 99
      end
      local page = run_read(false, 'zrange', key, from, last, 'WITHSCORES')
      for i = 1, #page, 2 do
        if cost > max_cost then return false end
        add(page[i])
        if page[i + 1] == since then skip = skip + 1 else since, skip = page[i + 1], 1 end
      end
      from = last + 1
    end
    return true, omitted
  end

  if part == 'limits' then
    if not add_all(Keys.throttles, add_listed, math.huge) then return {'limits ' .. since .. ' ' .. skip, rows} end
    since, skip = '-inf', 0
  end
  local complete, omitted = add_all(Keys.queues, add_holders, argv[3] == 'holding' and math.huge or 500)
  if not complete then return {'queues ' .. since .. ' ' .. skip, rows} end
  if omitted > 0 then rows[#rows + 1] = {'omitted', '' .. omitted} end
  return {'', rows}
end, true
