-- Finds where the jid of a job that does not exist is still mentioned. Reads up to 1000 tags and queues, and no
-- failure lists. Writes nothing.
-- Takes: jid
-- Result: name, value, ...: `history` (its length), `tracked`, `complete`; and as lists `dependents`,
--   `dependencies`, `tags`, `queues`
-- Refuses: a missing jid
return function(argv)
  local call, pcall = redis.call, redis.pcall
  local jid = argv[3]
  if not jid then error('Look(): jid missing') end
  local members, key = need('value/members'), Keys.job .. jid
  local function has(set) return type(pcall('zscore', set, jid)) == 'string' end
  local history = pcall('llen', key .. Keys.history)
  local tags, queues = {}, {}
  for _, tag in ipairs(call('zrevrange', Keys.tags, 0, 999)) do
    if has(Keys.tag .. tag) then tags[#tags + 1] = tag end
  end
  for _, queue in ipairs(call('zrevrange', Keys.queues, 0, 999)) do
    local base = Keys.queue .. queue
    local listed = has(base .. Keys.work) or has(base .. Keys.locks)
    listed = listed or has(base .. Keys.scheduled) or has(base .. Keys.depends)
    if listed or has(base .. Keys.throttled) then queues[#queues + 1] = queue end
  end
  return {
    'history', type(history) == 'number' and '' .. history or '0',
    'tracked', has(Keys.tracked) and '1' or '0',
    'complete', has(Keys.completed) and '1' or '0',
    'dependents', members(key .. Keys.dependents),
    'dependencies', members(key .. Keys.dependencies),
    'tags', tags,
    'queues', queues,
  }
end
