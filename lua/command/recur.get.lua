-- Returns a template as JSON, nil if it does not exist.
-- Takes: jid
-- Refuses: a missing jid
local Template = Fields('jid', 'klass', 'queue', 'priority', 'interval', 'retries', 'count', 'data', 'tags',
  'backlog', 'opts')

return function(argv)
  local jid = argv[3]
  if not jid then error('Recurring(): no jid provided') end
  local r = redis.call('hmget', Keys.recurring .. jid, unpack(Template))
  if not r[Template.jid] then return nil end
  local function number(text)
    local n = tonumber(text)
    return n and n - n == 0 and n or 0
  end
  return cjson.encode({
    jid = jid,
    klass = r[Template.klass],
    state = 'recur',
    queue = r[Template.queue],
    priority = number(r[Template.priority]),
    interval = number(r[Template.interval]),
    retries = number(r[Template.retries]),
    count = number(r[Template.count]),
    data = r[Template.data],
    tags = need('job/tags')(r[Template.tags]),
    backlog = number(r[Template.backlog]),
    opts = r[Template.opts] and r[Template.opts] ~= '{}' and need('recurring/opts')(r[Template.opts]) or nil,
  })
end, true
