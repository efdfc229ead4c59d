-- Removes tags from a template.
-- Takes: jid tag ...
-- Result: the remaining tags
-- Refuses: a missing template
return function(argv)
  local jid = argv[3]
  if not jid then error('Recurring(): no jid provided') end
  local key = Keys.recurring .. jid
  local stored = redis.call('hmget', key, 'tags', 'jid')
  if not stored[1] and not stored[2] then error('Untag(): Job ' .. jid .. ' does not exist') end
  local drop = {}
  for i = 4, #argv do drop[argv[i]] = true end
  local json = cjson.encode(need('value/without')(need('job/tags')(stored[1]), drop))
  redis.call('hset', key, 'tags', json)
  return json
end, true
