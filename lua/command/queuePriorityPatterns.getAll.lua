-- The stored priority patterns in their order, also of an older qmore.
-- Result: a JSON array of texts; each text is a JSON object with `fairly` and `pattern`
return function()
  local list = redis.call('lrange', Keys.priority_patterns, 0, -1)
  if not list[1] then
    -- The legacy key has no prefix: a user may have no right to it, and a cluster another node for it.
    list = redis.pcall('lrange', Keys.legacy_priorities, 0, -1)
  end
  if not list[1] then list = {'{"fairly": false, "pattern": ["default"]}'} end
  return cjson.encode(list)
end, true
