-- The stored priority patterns in their order, or the patterns that an older qmore stored.
-- Result: a JSON array of texts; each text is a JSON object with `fairly` and `pattern`
return function()
  local list = redis.call('lrange', Keys.priority_patterns, 0, -1)
  if not list[1] then
    -- Ignore an error: the legacy key has no prefix, so the user may not be allowed to read it, and in a cluster it
    -- may be on another node.
    list = redis.pcall('lrange', Keys.legacy_priorities, 0, -1)
  end
  if not list[1] then list = {'{"fairly": false, "pattern": ["default"]}'} end
  return cjson.encode(list)
end, true
