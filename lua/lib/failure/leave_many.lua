-- Removes jobs that stop being failed from their failure lists and from the counters.
-- Takes: a list of {jid, stored failure, queue in which it failed}
local call = redis.call

local function forget_if_empty(group)
  if call('exists', Keys.group .. group) == 0 then call('srem', Keys.failures, group) end
end

-- Removes jobs from one list: reads it once from its oldest end until all are found, and writes back the entries it
-- passed. Bulk commands take jobs in that order. A few jobs that are not near that end are removed one at a time, which
-- costs less than writing back a long list. If an older script left several entries for one job, the entries in the
-- part that was read are removed: in a list of up to 1000, all of them. `wanted`: a set of jids, `count` of them; found
-- ones become false.
local function remove_from_list(group, wanted, count)
  local list = Keys.group .. group
  local length = call('llen', list)
  local others, passed = {}, 0
  local depth = count < 100 and 10 * count or length
  while count > 0 and passed < length and passed < depth do
    local first = math.max(0, length - passed - 1000)
    local page = call('lrange', list, first, length - passed - 1)
    for i = #page, 1, -1 do
      local found = wanted[page[i]]
      if found == nil then
        others[#others + 1] = page[i]
      elseif found then
        wanted[page[i]] = false
        count = count - 1
      end
    end
    passed = length - first
  end
  if passed == length then
    call('del', list)
  else
    call('ltrim', list, 0, length - passed - 1)
  end
  local back = {}
  for i = #others, 1, -1 do back[#back + 1] = others[i] end
  need('value/in_chunks')('rpush', list, back, 1, #back)
  if count > 0 and passed < length then
    for jid, missing in pairs(wanted) do
      if missing and call('lrem', list, 1, jid) > 0 then wanted[jid] = false end
    end
  end
  forget_if_empty(group)
end

return function(jobs)
  local groups, days, unnamed, jids = {}, {}, {}, {}
  for i = 1, #jobs do jids[i] = jobs[i][1] end
  if call('exists', Keys.failed_times) == 1 then need('failure/forget_times')(jids) end
  local read = need('failure/decode')
  for i = 1, #jobs do
    local jid, failure, queue = jobs[i][1], read(jobs[i][2]), jobs[i][3]
    local group = failure.group
    if type(group) == 'string' then
      local wanted = groups[group]
      if not wanted then
        wanted = {count = 0, jids = {}}
        groups[group] = wanted
      end
      if wanted.jids[jid] == nil then
        wanted.count = wanted.count + 1
        wanted.jids[jid] = true
      end
    else
      unnamed[#unnamed + 1] = jid
    end
    local when = tonumber(failure.when)
    if when and when - when == 0 then
      local id = when - when % 86400 .. ':' .. queue
      local day = days[id]
      if not day then
        day = {when, queue, 0}
        days[id] = day
      end
      day[3] = day[3] + 1
    end
  end
  for group, wanted in pairs(groups) do
    if wanted.count < 10 then
      local list = Keys.group .. group
      local length = call('llen', list)
      local left = length
      for jid in pairs(wanted.jids) do
        local gone = call('lrem', list, length > 1000 and -1 or 0, jid)
        if gone == 0 then unnamed[#unnamed + 1] = jid end
        left = left - gone
      end
      if left == 0 then call('srem', Keys.failures, group) end
    else
      remove_from_list(group, wanted.jids, wanted.count)
      for jid, missing in pairs(wanted.jids) do
        if missing then unnamed[#unnamed + 1] = jid end
      end
    end
  end
  if unnamed[1] then
    local names = call('smembers', Keys.failures)
    for i = 1, #names do
      local wanted = {}
      for k = 1, #unnamed do wanted[unnamed[k]] = true end
      remove_from_list(names[i], wanted, #unnamed)
    end
  end
  for _, day in pairs(days) do need('failure/uncount')(day[1], day[2], day[3]) end
end
