-- A template as JSON, nil if it does not exist.
-- Takes: jid
-- Refuses: a missing jid
local Template = Fields('jid', 'klass', 'queue', 'priority', 'interval', 'retries', 'count', 'data', 'tags',
  'backlog', 'opts')

return function(argv)
  local jid = argv[3]
  if not jid then error('Recurring(): no jid provided') end
  local template = redis.call('hmget', Keys.recurring .. jid, unpack(Template))
  if not template[Template.jid] then return nil end
  local function number_or_zero(text)
    local n = tonumber(text)
    return n and n - n == 0 and n or 0
  end
  return cjson.encode({
    jid = jid,
    klass = template[Template.klass],
    state = 'recur',
    queue = template[Template.queue],
    priority = number_or_zero(template[Template.priority]),
    interval = number_or_zero(template[Template.interval]),
    retries = number_or_zero(template[Template.retries]),
    count = number_or_zero(template[Template.count]),
    data = template[Template.data],
    tags = need('job/tags')(template[Template.tags]),
    backlog = number_or_zero(template[Template.backlog]),
    opts = template[Template.opts] and template[Template.opts] ~= '{}'
      and need('recurring/opts')(template[Template.opts]) or nil,
  })
end, true
