-- Finds the queues with topics, from this core's index and by a search for queues that other scripts left out of it.
-- Without an index, it reads all listed queues. Rounds of SCAN then search the keys, one begun in 10 seconds at most.
-- Each call scans one slice of the keys. The slice is larger if the last one was long ago.
-- Takes: now; t; a function that runs a command on a hash
-- Result: the names; the fields and values that the index gets, as a list

-- The number of keys in a slice: the least, more for each second since the last slice, and the most (about 30 ms).
local least, per_second, most = 1000, 10000, 20000

local most_queues = 5000

return function(now, t, run)
  local call, index, state, names, listed, new = redis.call, run('hgetall', Keys.subscriptions), {}, {}, {}, {}
  for i = 1, #index, 2 do
    local name = string.match(index[i], '^q:(.*)$')
    if name then
      names[#names + 1], listed[name] = name, true
    else
      state[index[i]] = index[i + 1]
    end
  end
  local function find(name)
    if listed[name] then return end
    names[#names + 1], listed[name] = name, true
    new[#new + 1], new[#new + 2] = 'q:' .. name, '1'
  end
  local since, read, cursor = tonumber(state.since), tonumber(state.read) or 0, state.cursor or '0'
  -- Begin no round within 10 seconds of the last one, unless its start is in the future, after a clock was set back.
  if since and cursor == '0' and now >= since and now < since + 10 then return names, new end
  if not since then
    local queues = redis.pcall('zrange', Keys.queues, 0, most_queues - 1)
    for i = 1, #queues do
      if call('exists', Keys.topics .. queues[i]) == 1 then find(queues[i]) end
    end
  end
  if cursor == '0' then new[#new + 1], new[#new + 2] = 'since', t end
  local count = math.floor(math.min(most, least + per_second * math.max(0, now - read)))
  local page = call('scan', cursor, 'MATCH', Keys.topics .. '*', 'COUNT', count)
  for _, key in ipairs(page[2]) do find(string.sub(key, #Keys.topics + 1)) end
  local n = #new
  new[n + 1], new[n + 2], new[n + 3], new[n + 4] = 'read', t, 'cursor', page[1]
  return names, new
end
