-- Adds or removes tags of a job, or lists jobs by tag.
-- Takes: add jid tag ... | remove jid tag ... | get tag [offset [count]] | top [offset [count]]
-- Result: the tags of the job, a page of jids with their total, or the most used tags
-- Refuses: a missing job, unknown verbs, an offset or count that is not a number, more than 1000 tags of a job, more
--   than 10000 tags in one call
local call = redis.call

local function page(offset, count)
  local from, limit = tonumber(offset or 0), tonumber(count or 25)
  if not from then error('Tag(): Arg "offset" not a number: ' .. offset) end
  if not limit then error('Tag(): Arg "count" not a number: ' .. count) end
  return from, limit
end

return function(argv, _, t)
  local verb = argv[3]
  if not verb then error('Tag(): Arg "command" must be "add", "remove", "get" or "top"') end
  if verb == 'add' or verb == 'remove' then
    local jid = argv[4]
    if not jid then error('Tag(): Arg "jid" missing') end
    if argv[10005] then error('Tag(): more than 10000 tags') end
    local key = Keys.job .. jid
    local stored = call('hget', key, 'tags')
    if not stored and not call('hget', key, 'jid') then error('Tag(): Job ' .. jid .. ' does not exist') end
    local tags, has = need('job/tags')(stored), {}
    for i = 1, #tags do has[tags[i]] = true end
    local left = tags
    if verb == 'add' then
      local words, first = argv, 5
      if php then words, first = need('value/without_blanks')(need('value/args_from')(argv, 5)), 1 end
      local before, given = #tags, {}
      for i = first, #words do
        local tag = words[i]
        if not has[tag] then
          has[tag] = true
          tags[#tags + 1] = tag
        end
        given[#given + 1] = tag
      end
      need('job/refuse_too_many_tags')('Tag', #tags, before)
      need('job/index_tags')(t, jid, given)
    else
      local gone = need('value/args_from')(argv, 5)
      for i = 1, #gone do has[gone[i]] = nil end
      need('job/untag')(jid, gone)
      left = {}
      for i = 1, #tags do
        if has[tags[i]] then left[#left + 1] = tags[i] end
      end
    end
    local json = cjson.encode(left)
    call('hset', key, 'tags', json)
    return json
  elseif verb == 'get' then
    local tag = argv[4]
    if not tag then error('Tag(): Arg "tag" missing') end
    local from, limit = page(argv[5], argv[6])
    local key = Keys.tag .. tag
    return '{"total":' .. call('zcard', key) .. ',"jobs":' ..
      cjson.encode(call('zrange', key, from, from + limit - 1)) .. '}'
  elseif verb == 'top' then
    local from, limit = page(argv[4], argv[5])
    return cjson.encode(call('zrevrangebyscore', Keys.tags, '+inf', 2, 'LIMIT', from, limit))
  end
  error('Tag(): First argument must be "add", "remove" or "get"')
end
