-- Checks that a failure group is in `ql:failures` if, and only if, its list is not empty. Once per group.
-- Takes: group
return function(c)
  local asked = {}

  -- Whether any entry of the list stays there. If none does, the group needs no entry: the repair that
  -- removes the last entry deletes the list.
  local function lasts(group, key, length)
    local jids = redis.call('lrange', key, 0, 99)
    for i = 1, #jids do
      local what, j = c.read(jids[i])
      if what == 'odd' or what == 'type'
        or what == 'job' and j.state == 'failed' and (c.need('judge/failure')(j) or group) == group then
        return true
      end
    end
    return length > #jids
  end

  return function(group)
    if asked[group] then return end
    asked[group] = true
    local key = Keys.group .. group
    local known, wrong = c.ask('sismember', Keys.failures, group)
    if wrong then return c.wrong_type(Keys.failures, 'set') end
    local length
    length, wrong = c.ask('llen', key)
    if wrong then
      c.wrong_type(key, 'list')
    elseif known == 1 and length == 0 then
      c.add('group-set', group, 'empty', {{'set', Keys.failures, group, '1', false}})
    elseif known == 0 and length > 0 and lasts(group, key, length) then
      c.add('group-set', group, 'unlisted', {{'set', Keys.failures, group, false, '1'}})
    end
  end
end
