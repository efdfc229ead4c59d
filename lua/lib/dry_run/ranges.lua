-- The range commands on sorted sets in a dry run, which merge the server's members with those that the call would have
-- written. The entry of a key has in `values` the scores of the members that the call has touched, false for a removed
-- one, and in `hidden` how many of these members the server has.
-- Result: the commands by name
local order = need('dry_run/order')()
local number, precedes, between = order.number, order.precedes, order.between

-- The members to which the call has given a score, in the order of the sorted set.
local function written(entry)
  if entry.sorted then return entry.sorted end
  local sorted, values = {}, entry.values
  for member, score in pairs(values) do
    if score then sorted[#sorted + 1] = member end
  end
  table.sort(sorted, function(a, b) return precedes(values[a], a, values[b], b) end)
  entry.sorted = sorted
  return sorted
end

-- Merges the server's entries (member, score, ...) with the entries that the call has written. Returns the entries at
-- the ranks `from` to `to`, with their scores if `scores` is set. If `inside` is given, the ranks count only the
-- entries for whose score it returns true.
local function merge(entry, theirs, reverse, range)
  local from, to, inside = range.from, range.to, range.inside
  local own, values, found, at, place = written(entry), entry.values, {}, 1, 0
  local i, step = reverse and #own or 1, reverse and -1 or 1
  while place <= to do
    while theirs[at] and values[theirs[at]] ~= nil do at = at + 2 end
    while inside and own[i] and not inside(values[own[i]]) do i = i + step end
    local member, other = own[i], theirs[at]
    if not member and not other then break end
    local score, their_score = member and values[member], other and number(theirs[at + 1])
    local first = member and (not other or precedes(score, member, their_score, other) ~= reverse)
    if first then i = i + step else at, member, score = at + 2, other, their_score end
    if place >= from then
      found[#found + 1] = member
      if range.scores then found[#found + 1] = string.format('%.17g', score) end
    end
    place = place + 1
  end
  return found
end

-- A range by ranks. The server's entries are kept for further ranges, because a dry run does not change them.
local function by_place(name)
  return function(entry, key, from, to, scores)
    if from < 0 then from = math.max(0, entry.size + from) end
    if to < 0 then to = entry.size + to end
    local theirs, want = entry[name] or {}, math.min(to, entry.size) + 1 + (entry.hidden or 0)
    entry[name] = theirs
    if entry.server and #theirs / 2 < want then
      local more = redis.call(name, key, #theirs / 2, want + 99, 'WITHSCORES')
      for i = 1, #more do theirs[#theirs + 1] = more[i] end
    end
    return merge(entry, theirs, name == 'zrevrange', {from = from, to = to, scores = scores})
  end
end

-- A range by scores.
local function by_score(name)
  local reverse = name == 'zrevrangebyscore'
  return function(entry, key, first, last, ...)
    local options, scores, offset, count = {...}, false, 0, math.huge
    for i = 1, #options do
      if options[i] == 'WITHSCORES' then scores = true end
      if options[i] == 'LIMIT' then offset, count = options[i + 1], options[i + 2] end
    end
    local server_limit, theirs = count == math.huge and -1 or offset + count + (entry.hidden or 0), {}
    if entry.server then theirs = redis.call(name, key, first, last, 'WITHSCORES', 'LIMIT', 0, server_limit) end
    local inside = reverse and between(last, first) or between(first, last)
    local range = {from = offset, to = offset + count - 1, scores = scores, inside = inside}
    return merge(entry, theirs, reverse, range)
  end
end

return function()
  local ranges = {}
  for _, name in ipairs({'zrange', 'zrevrange'}) do ranges[name] = by_place(name) end
  for _, name in ipairs({'zrangebyscore', 'zrevrangebyscore'}) do ranges[name] = by_score(name) end
  return ranges
end
