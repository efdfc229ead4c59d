-- Reverts changes of repairs, newest first. A value that has changed since the repair is left alone.
-- Takes: per change four words: key; then item, before and after, each `-` for nil or `+` and the text
-- Result: how many changes were reverted, and how many were left alone
-- Refuses: incomplete changes, keys that do not belong to the core

-- Parses and validates the four words of a change. Returns kind, key, item, before and after.
local function parse_change(key, item, before, after)
  local function parse_word(word)
    if word == '-' then return false end
    if string.byte(word) ~= 43 then error('Check(): "-" or "+" missing before ' .. word) end
    return string.sub(word, 2)
  end
  item, before, after = parse_word(item), parse_word(before), parse_word(after)
  if string.sub(key, 1, #Keys.prefix) ~= Keys.prefix then error('Check(): not under the prefix: ' .. key) end
  if not item then
    if after and (before or string.sub(after, 1, #Keys.lost) ~= Keys.lost) then
      error('Check(): no change: ' .. key)
    end
    if before and not string.find(before, '^%d+$') then error('Check(): no change: ' .. key) end
    return {after and 'move' or before and 'expiry' or 'delete', key, item, before, after}
  end
  local kind = need('key/kind')(string.sub(key, #Keys.prefix + 1))
  if not kind then error('Check(): no key of ours: ' .. key) end
  -- A jid or throttle id may end like another key of the job or throttle, such as `-history`. If the key holds a
  -- hash, it is the key of the job or throttle itself.
  if kind ~= 'hash' and (string.sub(key, 1, #Keys.job) == Keys.job
    or string.sub(key, 1, #Keys.throttle) == Keys.throttle) then
    local held = redis.call('type', key)
    if (held.ok or held) == 'hash' then kind = 'hash' end
  end
  if kind == 'zset' then
    for _, score in ipairs({before or '0', after or '0'}) do
      local n = tonumber(score)
      if not n or n ~= n then error('Check(): score is not a number: ' .. score) end
    end
  elseif kind == 'list' and not string.find(item, '^%d+$') or #item > 1000000 then
    error('Check(): index is not a number: ' .. item)
  end
  return {kind, key, item, before, after}
end

return function(argv)
  if #argv == 2 or (#argv - 2) % 4 ~= 0 then error('Check(): key, item, before and after for each change') end
  local changes, call = {}, redis.call
  for i = 3, #argv, 4 do changes[#changes + 1] = parse_change(argv[i], argv[i + 1], argv[i + 2], argv[i + 3]) end
  local current, write, back = need('repair/current'), need('repair/write')(), 0

  -- Whether a list holds a text at an index or behind it. The index of a restored entry becomes larger when a revert
  -- restores entries before it, and smaller when a revert removes added entries.
  local function holds(key, index, text)
    -- Every place is at or behind index 0: search from the head, where a repair adds entries. For a larger index, the
    -- text is there if its last occurrence is at the index or behind it.
    local place = redis.pcall('lpos', key, text, 'RANK', index == 0 and 1 or -1)
    if type(place) ~= 'table' then return place and place >= index end
    -- Without the right to LPOS, read the list in pages.
    for from = index, call('llen', key) - 1, 1000 do
      local page = call('lrange', key, from, from + 999)
      for i = 1, #page do
        if page[i] == text then return true end
      end
    end
    return false
  end

  -- Find the entries that the repair added and that their list has lost since. `ahead` counts them for each list,
  -- over the changes that this call has not reverted yet.
  local gone, ahead = {}, {}
  for i = 1, #changes do
    local kind, key, _, before, after = unpack(changes[i])
    if kind == 'list' and after and not before and current(kind, key, 0) ~= nil and not holds(key, 0, after) then
      gone[i], ahead[key] = true, (ahead[key] or 0) + 1
    end
  end

  -- Whether a value is still as the repair left it.
  local function unchanged(kind, key, item, before, after)
    if kind == 'move' then return call('exists', after) == 1 and call('exists', key) == 0 end
    if kind == 'expiry' then return call('ttl', key) == -1 end
    if kind == 'delete' then return false end
    local held = current(kind, key, item)
    -- Do not restore a field of a hash that was deleted since: the field alone would be a remnant of a job.
    if kind == 'hash' and not after and call('exists', key) == 0 then return false end
    if kind == 'list' and not after then
      -- Restore a removed entry if the list does not have it again, and is still long enough for its index.
      local index = math.max(0, tonumber(item) - (ahead[key] or 0))
      return held ~= nil and call('llen', key) >= tonumber(item) and not holds(key, index, before)
    end
    if kind == 'zset' and held and after then return tonumber(held) == tonumber(after) end
    return held == after
  end

  for i = 1, #changes do
    local kind, key, item, before, after = unpack(changes[i])
    if gone[i] then ahead[key] = ahead[key] - 1 end
    local done = unchanged(kind, key, item, before, after)
    if done then
      if kind == 'move' then
        done = write({{kind, after, false, false, key}}, back > 0)
      elseif kind == 'expiry' then
        -- An expiry of 0 would delete the key: set at least 1 ms. Without the right to PEXPIRE, leave the key alone.
        done = redis.pcall('pexpire', key, math.max(1, tonumber(before))) == 1
      else
        done = write({{kind, key, item, after, before}}, back > 0)
      end
    end
    if done then back = back + 1 end
  end
  return {'' .. back, '' .. (#changes - back)}
end, true
