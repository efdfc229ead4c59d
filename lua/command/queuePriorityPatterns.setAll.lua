-- Replaces all priority patterns. If none of the given patterns is `["default"]`, which stands for all other queues,
-- adds it as the last one. Without given patterns, stores none.
-- Takes: JSON object with `fairly` and `pattern`, an array of patterns; ...
-- Refuses: text that is not such an object
return function(argv)
  local list, has_default = need('value/args_from')(argv, 3), false
  local pattern_list = need('queue/pattern_list')
  for i = 1, #list do
    local object = cjson.decode(list[i])
    local patterns = pattern_list(type(object) == 'table' and object.pattern)
    has_default = has_default or #patterns == 1 and patterns[1] == 'default'
  end
  if list[1] and not has_default then list[#list + 1] = '{"fairly": false, "pattern": ["default"]}' end
  redis.call('del', Keys.priority_patterns)
  redis.pcall('del', Keys.legacy_priorities)
  need('value/in_chunks')('rpush', Keys.priority_patterns, list, 1, #list)
end, true
