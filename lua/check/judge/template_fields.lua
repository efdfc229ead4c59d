-- Checks the fields of a template that do not depend on its schedule.
-- Takes: jid; the values of Template; the key of its hash, nil if it is paused: then nothing is replaced; the function
--   that reports a field
local Template = Fields('queue', 'interval', 'count', 'priority', 'retries', 'backlog', 'tags', 'data', 'klass', 'opts')

return function(c)
  local number = need('value/number')

  return function(id, r, key, report)
    local function replace(name, changes)
      if key then c.add('recurring-invalid', id, name, changes) else report(name) end
    end
    for i, name in ipairs({'priority', 'retries', 'backlog'}) do
      local stored = r[Template.priority - 1 + i]
      if not number(stored) then replace(name, {{'hash', key, name, stored, '0'}}) end
    end
    local stored = r[Template.tags]
    local tags, long = c.need('judge/tag_list')(stored)
    if long then
      c.add('not-judged', 'r:' .. id, 'tags beyond 250000 bytes')
    elseif not tags then
      local changes = {{'hash', key, 'tags', stored, '{}'}}
      if key and stored then changes[2] = {'hash', key, 'bad-tags', c.ask('hget', key, 'bad-tags'), stored} end
      replace('tags', changes)
    end
    local data = r[Template.data]
    if data and #data > 250000 then
      c.add('not-judged', 'r:' .. id, 'data beyond 250000 bytes')
    elseif not data or not pcall(cjson.decode, data) then
      report('data')
    end
    if not r[Template.klass] then report('klass') end
    if r[Template.opts] and not need('recurring/opts')(r[Template.opts]) then report('opts') end
    local count = number(r[Template.count])
    if not count or count < 0 or count % 1 ~= 0 then report('count') end
    if not r[Template.queue] then report('queue') end
  end
end
