-- Finds a job in failure lists, and plans its removal from them.
-- Result: a table of functions: `find` and `near` search one list, `drop` and `remove_everywhere` plan the removal
return function(check)
  local lists = {}

  -- The positions of a job in the list of a group, the length of the list, and whether the list is longer than
  -- `limit`, the number of entries searched; nil if the key is not a list. Uses one LPOS, or reads pages if the user
  -- has no right to LPOS.
  function lists.find(group, jid, limit)
    limit = limit or 100000
    local key = Keys.group .. group
    local length, wrong = check.ask('llen', key)
    if wrong then
      check.wrong_type(key, 'list')
      return nil
    end
    local places = {}
    if length == 0 then return places, 0, false end
    -- Count the cost of the search: the server compares about 70 entries in a microsecond.
    check.cost = check.cost + math.min(length, limit) / 70
    local reply = lists.paged and {} or redis.pcall('lpos', key, jid, 'COUNT', 0, 'MAXLEN', limit)
    if reply.err then lists.paged = true end
    if lists.paged then
      for from = 0, math.min(length, limit) - 1, 1000 do
        local page = redis.call('lrange', key, from, math.min(from + 999, limit - 1))
        for i = 1, #page do
          if page[i] == jid then places[#places + 1] = from + i - 1 end
        end
      end
    else
      places = reply
    end
    return places, length, length > limit
  end

  -- Finds a job that is to be removed, with the results of lists.find. Remembers the 200 entries before and behind
  -- the job, so that further jobs among these need no search of the list.
  local window
  function lists.near(group, jid)
    local gone = window and check.repair and check.relisted - window.relisted or 0
    -- If only some of the planned removals were made, the known positions no longer hold: search again.
    if gone > 0 and gone ~= window.planned then window = nil end
    local place = window and window.group == group and window.places[jid]
    if not place then
      local places, length, beyond = lists.find(group, jid)
      window = nil
      if not places or #places ~= 1 then return places, length, beyond end
      place = places[1]
      local from, held = math.max(0, place - 200), {}
      local page = redis.call('lrange', Keys.group .. group, from, place + 200)
      for i = 1, #page do held[page[i]] = held[page[i]] == nil and from + i - 1 end
      window = {group = group, places = held, length = length, relisted = check.relisted, planned = 0, taken = {}}
      gone = 0
    end
    local before = 0
    if gone > 0 then
      for i = 1, #window.taken do
        if window.taken[i] < place then before = before + 1 end
      end
    end
    window.planned = window.planned + 1
    window.taken[#window.taken + 1] = place
    return {place - before}, window.length - gone, false
  end

  -- Adds the removal of the entries at these positions, from last to first, and of a group that is empty afterwards.
  function lists.drop(changes, group, jid, places, length)
    local key = Keys.group .. group
    for i = #places, 1, -1 do changes[#changes + 1] = {'list', key, '' .. places[i], jid, false} end
    if #places == length and length > 0 and check.ask('sismember', Keys.failures, group) == 1 then
      changes[#changes + 1] = {'set', Keys.failures, group, '1', false}
    end
  end

  -- All groups, and false; no groups, and true, if there are more than 500.
  function lists.groups()
    local count, wrong = check.ask('scard', Keys.failures)
    if wrong then return {}, false end
    if count <= 500 then return redis.call('smembers', Keys.failures), false end
    return {}, true
  end

  -- Adds the removal of a job from all failure lists. Searches nothing if there are more than 500 groups, and stops
  -- after about 100000 entries.
  function lists.remove_everywhere(changes, jid)
    local groups, left = lists.groups(), 100000
    for i = 1, #groups do
      local places, length
      if left > 0 then places, length = lists.find(groups[i], jid) end
      left = left - (length or 0)
      if places and places[1] then lists.drop(changes, groups[i], jid, places, length) end
    end
  end
  return lists
end
