-- Changes one field, member, list entry or key from the value `before` to `after`; false stands for a missing value.
-- Takes: kind key item before after
-- Refuses: raises what the server refuses

-- Inserts a value into a list at an index. More than 1000 entries from both ends, this replaces the entry there for a
-- moment by a unique text, and inserts before that. Otherwise it moves the entries up to the nearer end.
local function insert(key, at, value)
  local call, in_chunks = redis.call, need('value/in_chunks')
  local length = call('llen', key)
  if at > 1000 and length - at > 1000 then
    -- LINSERT only searches for the unique text, which costs less than moving entries. If the user lacks the right
    -- to run LINSERT, the entries are moved after all.
    local there, mark = call('lrange', key, at, at)[1], need('repair/entry_mark')(key, value)
    call('lset', key, at, mark)
    local added = redis.pcall('linsert', key, 'BEFORE', mark, value)
    local refused = type(added) == 'table'
    call('lset', key, refused and at or at + 1, there)
    if not refused then return end
  end
  if at == 0 then
    call('lpush', key, value)
  elseif at >= length then
    call('rpush', key, value)
  elseif at > length / 2 then
    local rest = call('lrange', key, at, -1)
    call('ltrim', key, 0, at - 1)
    call('rpush', key, value)
    in_chunks('rpush', key, rest, 1, #rest)
  else
    local front, back = call('lrange', key, 0, at - 1), {}
    call('ltrim', key, at, -1)
    call('lpush', key, value)
    for i = #front, 1, -1 do back[#back + 1] = front[i] end
    in_chunks('lpush', key, back, 1, #back)
  end
end

return function(kind, key, item, before, after)
  local call = redis.call
  if kind == 'hash' then
    if after then call('hset', key, item, after) else call('hdel', key, item) end
  elseif kind == 'zset' then
    if after then call('zadd', key, after, item) else call('zrem', key, item) end
  elseif kind == 'set' then
    call(after and 'sadd' or 'srem', key, item)
  elseif kind == 'list' then
    if before and after then
      call('lset', key, item, after)
    elseif after then
      insert(key, tonumber(item), after)
    else
      need('repair/remove_entries')(key, {{kind, key, item, before}}, 1, 1)
    end
  elseif kind == 'move' then
    call('rename', key, after)
  elseif kind == 'expiry' then
    call('persist', key)
  else
    call('del', key)
  end
end
