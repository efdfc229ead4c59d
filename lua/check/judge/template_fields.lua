-- Checks the fields of a template that do not depend on its schedule.
-- Takes: jid; the values of Template; the key of the template's hash, or nil for a paused template (no repair
--   replaces its fields); the function that reports a wrong field without a repair
local Template = Fields('queue', 'interval', 'count', 'priority', 'retries', 'backlog', 'tags', 'data', 'klass', 'opts')

return function(check)
  local number = need('value/number')

  return function(id, values, key, report)
    local function replace(name, changes)
      if key then check.add('recurring-invalid', id, name, changes) else report(name) end
    end
    for i, name in ipairs({'priority', 'retries', 'backlog'}) do
      local stored = values[Template.priority - 1 + i]
      if not number(stored) then replace(name, {{'hash', key, name, stored, '0'}}) end
    end
    local stored = values[Template.tags]
    local tags, long = check.need('judge/tag_list')(stored)
    if long then
      check.too_long('r:' .. id, 'tags')
    elseif not tags then
      local changes = {{'hash', key, 'tags', stored, '{}'}}
      if key and stored then changes[2] = {'hash', key, 'bad-tags', check.ask('hget', key, 'bad-tags'), stored} end
      replace('tags', changes)
    end
    local data = values[Template.data]
    if data and #data > check.longest then
      check.too_long('r:' .. id, 'data')
    elseif not data or not pcall(cjson.decode, data) then
      report('data')
    end
    if not values[Template.klass] then report('klass') end
    if values[Template.opts] and not need('recurring/opts')(values[Template.opts]) then report('opts') end
    local count = number(values[Template.count])
    if not count or count < 0 or count % 1 ~= 0 then report('count') end
    if not values[Template.queue] then report('queue') end
  end
end
