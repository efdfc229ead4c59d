-- Returns the queues with topics, from the index of this core. Other scripts do not enter theirs: the keys are searched
-- completely if there is no index yet, later in rounds that begin at most once in 10 seconds, a slice in each call.
-- Takes: now; t; a function that runs a command on a hash
-- Returns: the names
local slice = 1000

return function(now, t, run)
  local index, state, names, listed = run('hgetall', Keys.subscriptions), {}, {}, {}
  local function list(name)
    if not listed[name] then names[#names + 1], listed[name] = name, true end
  end
  for i = 1, #index, 2 do
    local name = string.match(index[i], '^q:(.*)$')
    if name then list(name) else state[index[i]] = index[i + 1] end
  end
  local since, cursor = tonumber(state.since), state.cursor or '0'
  -- Clocks may be set back.
  if since and cursor == '0' and now >= since and now < since + 10 then return names end
  if cursor == '0' then run('hset', Keys.subscriptions, 'since', t) end
  repeat
    local page = redis.call('scan', cursor, 'MATCH', Keys.topics .. '*', 'COUNT', slice)
    cursor = page[1]
    for _, key in ipairs(page[2]) do
      local name = string.sub(key, #Keys.topics + 1)
      if not listed[name] then run('hset', Keys.subscriptions, 'q:' .. name, '1') end
      list(name)
    end
  until since or cursor == '0'
  run('hset', Keys.subscriptions, 'cursor', cursor)
  return names
end
