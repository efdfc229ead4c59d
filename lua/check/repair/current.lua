-- The present value of a hash field, the score of a member of a sorted set, or the list entry at an index.
-- Takes: kind of key; key; item: a field, a member or an index
-- Result: text (`1` for a member of a set); false if the item does not exist; nil if the key has another type
return function(kind, key, item)
  local pcall, value = redis.pcall, nil
  if kind == 'hash' then
    value = pcall('hget', key, item)
  elseif kind == 'zset' then
    value = pcall('zscore', key, item)
  elseif kind == 'set' then
    value = pcall('sismember', key, item)
    if type(value) == 'number' then value = value == 1 and '1' end
  else
    value = pcall('lrange', key, item, item)
    if not value.err then value = value[1] or false end
  end
  if type(value) == 'table' then return nil end
  return value
end
