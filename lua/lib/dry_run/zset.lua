-- Simulates the commands on sorted sets in a dry run. The entry of a key (dry_run/server) has in `values` the
-- scores of the members that the call has changed.
-- Takes: the table with `call` of the dry run
-- Result: the operations by name
local order = need('dry_run/order')()
local number, precedes, between, less = order.number, order.precedes, order.between, order.less

local function score_of(entry, key, member)
  local own = entry.values[member]
  if own ~= nil then return own end
  local text = entry.server and redis.call('zscore', key, member)
  return text and number(text)
end

-- Sets the score of a member, or removes the member if `score` is false. Returns the score before. `was` keeps the
-- score on the server.
local function set_score(entry, key, member, score)
  local own, before = entry.values[member], score_of(entry, key, member)
  entry.was, entry.hidden = entry.was or {}, entry.hidden or 0
  if own == nil and before then entry.was[member], entry.hidden = before, entry.hidden + 1 end
  if own or score then entry.sorted = nil end
  entry.values[member] = score
  entry.size = entry.size + (score and 1 or 0) - (before and 1 or 0)
  return before
end

-- How much larger a count of entries is with the call's writes than on the server.
local function count_delta(entry, matches)
  local sum = 0
  for member, score in pairs(entry.values) do
    local before = entry.was[member]
    if score and matches(score, member) then sum = sum + 1 end
    if before and matches(before, member) then sum = sum - 1 end
  end
  return sum
end

return function(dry)
  local zset = need('dry_run/ranges')()
  function zset.zcard(entry) return entry.size end

  function zset.zscore(entry, key, member)
    local score = score_of(entry, key, member)
    return score and string.format('%.17g', score)
  end

  function zset.zadd(entry, key, ...)
    local words, new = {...}, 0
    local only_new = words[1] == 'NX'
    for i = only_new and 2 or 1, #words, 2 do
      local member = words[i + 1]
      if not only_new or not score_of(entry, key, member) then
        if not set_score(entry, key, member, number(words[i])) then new = new + 1 end
      end
    end
    return new
  end

  function zset.zrem(entry, key, ...)
    local gone = 0
    for _, member in ipairs({...}) do
      if set_score(entry, key, member, false) then gone = gone + 1 end
    end
    return gone
  end

  function zset.zincrby(entry, key, n, member)
    set_score(entry, key, member, (score_of(entry, key, member) or 0) + n)
    return zset.zscore(entry, key, member)
  end

  function zset.zcount(entry, key, min, max)
    local inside = between(min, max)
    return (entry.server and redis.call('zcount', key, min, max) or 0) + count_delta(entry, inside)
  end

  function zset.zrank(entry, key, member)
    local score = score_of(entry, key, member)
    if not score then return false end
    local text, rank = string.format('%.17g', score), 0
    if entry.server then
      rank = redis.call('zcount', key, '-inf', '(' .. text)
      local alike = redis.call('zrangebyscore', key, text, text)
      for i = 1, #alike do rank = rank + (less(alike[i], member) and 1 or 0) end
    end
    return rank + count_delta(entry, function(s, other) return precedes(s, other, score, member) end)
  end

  -- Supports only the form that the core uses: two sets, with `AGGREGATE` and a mode.
  function zset.zunionstore(entry, key, _, ...)
    local first, second, _, mode = ...
    local scores = {}
    for _, source in ipairs({first, second}) do
      local list = dry.call('zrange', source, 0, -1, 'WITHSCORES')
      for i = 1, #list, 2 do
        local score, other = number(list[i + 1]), scores[list[i]]
        scores[list[i]] = other and (mode == 'MAX' and math.max or math.min)(score, other) or score
      end
    end
    entry.server, entry.values, entry.was, entry.sorted, entry.size = false, {}, {}, nil, 0
    entry.hidden, entry.zrange, entry.zrevrange = 0, nil, nil
    for member, score in pairs(scores) do set_score(entry, key, member, score) end
    return entry.size
  end

  return zset
end
