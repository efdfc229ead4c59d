-- Returns the members of a set as a JSON array in a fixed order, `{}` if there are none.
-- Takes: key
return function(key)
  local list = redis.pcall('smembers', key)
  if not list[1] then return '{}' end
  table.sort(list)
  return cjson.encode(list)
end
