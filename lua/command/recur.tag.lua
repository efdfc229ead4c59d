-- Adds tags to a template.
-- Takes: jid tag ...
-- Result: its tags
-- Refuses: a missing template, more than 1000 tags
return function(argv)
  local jid = argv[3]
  if not jid then error('Recurring(): no jid provided') end
  local key = Keys.recurring .. jid
  local stored = redis.call('hmget', key, 'tags', 'jid')
  if not stored[1] and not stored[2] then error('Tag(): Job ' .. jid .. ' does not exist') end
  local tags, has = need('job/tags')(stored[1]), {}
  local before = #tags
  for i = 1, #tags do has[tags[i]] = true end
  local words = need('value/args_from')(argv, 4)
  if php then words = need('value/without_blanks')(words) end
  for i = 1, #words do
    if not has[words[i]] then tags[#tags + 1] = words[i] end
    has[words[i]] = true
  end
  need('job/refuse_too_many_tags')('Tag', #tags, before)
  local json = cjson.encode(tags)
  redis.call('hset', key, 'tags', json)
  return json
end, true
