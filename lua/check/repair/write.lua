-- Makes the changes of a finding. If the server refuses one of them, undoes those before it.
-- Takes: changes; whether to return nil instead of raising a refusal; whether the call has written nothing since it
--   judged the finding
-- Result: the changes that were made, with the values that the keys had before them
-- Refuses: raises the server's refusal
return function()
  local apply, current, asked = need('repair/apply'), need('repair/current'), {}

  -- The change as it is needed now, with the present value of the key. nil if it is no longer needed.
  local function needed(change)
    local kind, key, item, before, after = unpack(change)
    if kind == 'move' then
      if redis.call('exists', key) == 0 then return nil end
      local free, n = after, 1
      while redis.call('exists', free) == 1 do
        n = n + 1
        free = after .. ':' .. n
      end
      return {kind, key, item, before, free}
    end
    if kind == 'expiry' or kind == 'delete' then return change end
    local held = current(kind, key, item)
    if held == nil then return nil end
    if kind == 'list' then
      if before and held ~= before then return nil end
      return change
    end
    if held == after or kind == 'zset' and held and after and tonumber(held) == tonumber(after) then return nil end
    return {kind, key, item, held, after}
  end

  -- Raises the server's refusal of a change before any change is made, if the server can say so (Redis 7.0). Rights
  -- depend on the command and the key, so one member of a key is tested for all.
  local function require_right(kind, key, item, before, after)
    local name, command = kind .. (before and '-' or '') .. (after and '+' or ' ') .. key, nil
    if asked[name] then return end
    asked[name] = true
    if kind == 'hash' then
      command = after and {'hset', key, item, after} or {'hdel', key, item}
    elseif kind == 'zset' then
      command = after and {'zadd', key, after, item} or {'zrem', key, item}
    elseif kind == 'set' then
      command = {after and 'sadd' or 'srem', key, item}
    elseif kind == 'list' then
      command = before and after and {'lset', key, item, after} or after and {'lpush', key, after}
        or {'lrem', key, '1', before}
    elseif kind == 'move' then
      command = {'rename', key, after}
    else
      command = {kind == 'expiry' and 'persist' or 'del', key}
    end
    if not redis.acl_check_cmd(unpack(command)) then redis.call(unpack(command)) end
  end

  -- The index of the last of consecutive changes that remove entries of one list, from the end of the list on.
  local function last_of_run(changes, from)
    local to = from
    local kind, key, _, before, after = unpack(changes[from])
    if kind ~= 'list' or not before or after then return from end
    while true do
      local other = changes[to + 1]
      if not other or other[1] ~= kind or other[2] ~= key or not other[4] or other[5]
        or tonumber(other[3]) >= tonumber(changes[to][3]) then
        return to
      end
      to = to + 1
    end
  end

  return function(changes, quiet, first)
    local made = {}
    local ok, refusal = pcall(function()
      if redis.acl_check_cmd then
        for i = 1, #changes do require_right(unpack(changes[i])) end
      end
      local i = 1
      while i <= #changes do
        local change, last = changes[i], last_of_run(changes, i)
        if last > i then
          -- Do not read these entries again: the caller has just read them.
          need('repair/remove_entries')(change[2], changes, i, last)
          for k = i, last do made[#made + 1] = changes[k] end
        else
          -- If the call has written nothing since it read a member to remove, do not read the member again.
          if not (first and change[1] == 'zset' and not change[5]) then change = needed(change) end
          if change then
            apply(unpack(change))
            made[#made + 1] = change
          end
        end
        i = last + 1
      end
    end)
    if ok then return made end
    for i = #made, 1, -1 do
      local kind, key, item, before, after = unpack(made[i])
      if kind == 'move' then
        pcall(apply, kind, after, false, false, key)
      elseif item then
        pcall(apply, kind, key, item, after, before)
      end
    end
    if not quiet then error(refusal, 0) end
  end
end
