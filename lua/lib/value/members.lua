-- The members of a set, sorted by bytes. None if the key has another type.
-- Takes: key
-- Refuses: raises a missing right
return function(key)
  local list = redis.pcall('smembers', key)
  if list.err then
    need('value/wrong_type')(list, false, 'set', key, 'smembers', key)
    return {}
  end
  if not list[2] then return list end
  return need('value/sort')(list)
end
