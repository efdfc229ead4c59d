-- Checks that a failure group is in `ql:failures` if, and only if, its list is not empty. Once per group.
-- Takes: group
return function(check)
  local asked = {}

  -- Whether any entry of the list is right, so that no repair removes it. If none is, the group needs no entry in
  -- `ql:failures`: the repair that removes the last entry deletes the list.
  local function keeps_an_entry(group, key, length)
    local jids = redis.call('lrange', key, 0, 99)
    for i = 1, #jids do
      local what, job = check.read(jids[i])
      if what == 'odd' or what == 'type'
        or what == 'job' and job.state == 'failed' and (check.need('judge/failure')(job) or group) == group then
        return true
      end
    end
    return length > #jids
  end

  return function(group)
    if asked[group] then return end
    asked[group] = true
    local key = Keys.group .. group
    local known, wrong = check.ask('sismember', Keys.failures, group)
    if wrong then return check.wrong_type(Keys.failures, 'set') end
    local length
    length, wrong = check.ask('llen', key)
    if wrong then
      check.wrong_type(key, 'list')
    elseif known == 1 and length == 0 then
      check.add('group-set', group, 'empty', {{'set', Keys.failures, group, '1', false}})
    elseif known == 0 and length > 0 and keeps_an_entry(group, key, length) then
      check.add('group-set', group, 'unlisted', {{'set', Keys.failures, group, false, '1'}})
    end
  end
end
