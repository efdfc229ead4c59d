-- Reads the state of the system in one call, so that no two figures contradict each other. The cost hardly depends on
-- the number of jobs: a failure list is only probed for its first failure before `since`. Reads up to 500 groups, 500
-- queues and 500 workers: first those named, then of more than 500 queues the oldest and the newest, and the workers
-- that were seen last. Writes nothing.
-- Takes: since (`counts`|`spreads`) [the number of groups, group ..., queue ...]
-- Result: number of complete jobs; text of INFO, nil if the user may not read it; the completions of the last minutes
--   and over how many seconds; the number of groups, of queues, of workers seen lately, and of those seen within an
--   hour; per group: name, jobs, failures since then; per queue: name, value, ...; what look.queues returns for these
--   queues, without counts of 0; what look.workers returns for these workers; the queues with a key of a wrong type,
--   which are in no list; which lists of the system have such a key, so that nothing of them is known: complete,
--   groups, queues, workers
-- Refuses: a time that is not a number, another word, a wrong number of groups, more than 500 names of one kind
local call, pcall, pcall_lua = redis.call, redis.pcall, pcall
local texts = need('value/texts')()
local most = 500

-- Adds names to a list, each once, until the list has 500.
local function add_names(names, more)
  local known = {}
  for i = 1, #names do known[names[i]] = true end
  for i = 1, #more do
    if #names == most then return end
    if not known[more[i]] then
      names[#names + 1], known[more[i]] = more[i], true
    end
  end
end

return function(argv, now, t)
  local since, spreads = need('value/number')(argv[3]), argv[4] == 'spreads'
  if not since then error('Look(): since is not a number') end
  if not spreads and argv[4] ~= 'counts' then error('Look(): neither counts nor spreads: ' .. tostring(argv[4])) end
  local named = need('value/whole')(argv[5] or 0, 0, math.max(0, #argv - 5))
  if not named then error('Look(): wrong number of groups: ' .. argv[5]) end
  if named > most or #argv - 5 - named > most then error('Look(): more than ' .. most .. ' names') end
  local groups, queues = {}, {}
  add_names(groups, {unpack(argv, 6, 5 + named)})
  add_names(queues, {unpack(argv, 6 + named)})
  local named_queues = #queues

  -- Reads a list of the system, such as the queues. If its key has a wrong type, returns `empty` and reports the list.
  local unread, read = {}, need('value/read')
  local function read_index(list, empty, command, ...)
    local reply, wrong = read(command, ...)
    if not wrong then return reply end
    unread[list] = true
    return empty
  end

  local group_count = read_index('groups', 0, 'scard', Keys.failures)
  -- From a large set, SSCAN with cursor 0 reads only a part, but always the same part.
  if group_count > 0 then
    add_names(groups, group_count > most and call('sscan', Keys.failures, 0, 'COUNT', most)[2]
      or need('value/sort')(call('smembers', Keys.failures)))
  end
  local queue_count = read_index('queues', 0, 'zcard', Keys.queues)
  if queue_count > most then
    add_names(queues, call('zrange', Keys.queues, 0, most / 2 - 1))
    add_names(queues, call('zrevrange', Keys.queues, 0, most - 1))
  elseif queue_count > 0 then
    add_names(queues, call('zrange', Keys.queues, 0, -1))
  end
  local first = string.format('(%.17g', need('worker/recent_since')(now))
  local worker_count = read_index('workers', 0, 'zcount', Keys.workers, first, '+inf')
  local hour_count = read_index('workers', 0, 'zcount', Keys.workers, string.format('%.17g', now - 3600), '+inf')
  local workers = read_index('workers', {}, 'zrevrangebyscore', Keys.workers, '+inf', first, 'WITHSCORES', 'LIMIT', 0,
    most)

  local count_recent = need('failure/count_recent')
  local group_rows = need('value/rows')(groups, function(group)
    local key = Keys.group .. group
    local size = pcall('llen', key)
    if type(size) ~= 'number' then size = 0 end
    return {group, texts[size], texts[count_recent(key, size, since)]}
  end)
  -- A queue with a key of a wrong type gets no row. Its name goes into `damaged`.
  local queue_rows, count_rows, damaged = {}, {}, {}
  local counts_of, facts_of, row_of = need('queue/counts'), need('queue/facts'), need('queue/row')
  local today = '' .. (now - now % 86400)
  local function read_queue(queue, known)
    local counts = counts_of(now, t, queue, today, spreads)
    return facts_of(now, t, queue, counts, spreads), row_of(now, queue, counts, known, true)
  end
  for i = 1, #queues do
    local queue = queues[i]
    local ok, its, counted = pcall_lua(read_queue, queue, i > named_queues)
    if ok then
      queue_rows[#queue_rows + 1], count_rows[#count_rows + 1] = its, counted
    else
      damaged[#damaged + 1] = queue
    end
  end
  local worker_row = need('worker/row')
  local ok, worker_rows = pcall_lua(function()
    local rows = {}
    for i = 1, #workers, 2 do rows[#rows + 1] = worker_row(t, workers[i], workers[i + 1], true) end
    return rows
  end)
  -- Run INFO only if the user may: the server would log a command that it denies.
  local may = not redis.acl_check_cmd or redis.acl_check_cmd('info')
  local info = may and pcall('info')
  if type(info) ~= 'string' then info = false end
  local complete, recent = read_index('complete', 0, 'zcard', Keys.completed), {}
  if complete > 0 then
    local count, seconds = need('stats/recent')(now)
    if count then recent = {'' .. count, string.format('%.3f', seconds)} end
  end
  if not ok then unread.workers = true end
  local lists = {}
  for list in pairs(unread) do lists[#lists + 1] = list end
  return {
    '' .. complete,
    info,
    recent,
    '' .. group_count,
    '' .. queue_count,
    '' .. worker_count,
    '' .. hour_count,
    group_rows,
    queue_rows,
    count_rows,
    ok and worker_rows or {},
    damaged,
    need('value/sort')(lists),
  }
end
