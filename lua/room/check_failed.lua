-- Returns the newest failure that a history tells: group, when, worker; nil if it tells none.
local function told(c, j)
  local list = c.ask('lrange', j.key .. Keys.history, -100, -1) or {}
  for i = #list, 1, -1 do
    if string.find(list[i], '"failed"', 1, true) and #list[i] < 250000 then
      local ok, entry = pcall(cjson.decode, list[i])
      if ok and type(entry) == 'table' and entry[2] == 'failed' and type(entry[3]) == 'table'
        and type(entry[3].group) == 'string' and type(entry[1]) == 'number' and entry[1] - entry[1] == 0 then
        return entry[3].group, entry[1], type(entry[3].worker) == 'string' and entry[3].worker or ''
      end
    end
  end
end

-- Returns a function that judges whether a failed job is once in the list of its group. `seen`: a
-- group in whose list it was met.
return function(c)
  local lists, number = c.room('check_lists'), need('number')
  return function(j, seen)
    local failure = need('failure')(j.failure)
    local group, when = failure.group, number(failure.when)
    if type(group) ~= 'string' or not when then
      local known, moment, worker = told(c, j)
      local changes = {}
      if known then
        changes[1] = {'hash', j.key, 'failure', j.failure, need('failure_text')(known, '', moment, worker)}
        if j.failure then
          changes[2] = {'hash', j.key, 'bad-failure', c.ask('hget', j.key, 'bad-failure'), j.failure}
        end
      end
      c.add('job-unreadable', j.id, j.failure and 'failure' or 'no failure', changes, 'failure')
      if type(group) ~= 'string' then group = known end
    end

    local changes, places, length, beyond = {}, {}, 0, false
    if group then
      places, length, beyond = lists.find(group, j.id)
      if not places then return end
    end
    if places[2] then
      local first = table.remove(places, 1)
      lists.drop(changes, group, j.id, places, 0)
      table.insert(places, 1, first)
      c.add('failed-twice', j.id, group, changes)
    end
    if places[1] then
      if when then c.room('check_day')(j, when) end
      if seen and seen ~= group then
        local others, total = lists.find(seen, j.id)
        if others and others[1] then
          changes = {}
          lists.drop(changes, seen, j.id, others, total)
          c.add('failed-twice', j.id, seen, changes)
        end
      end
      return
    end
    if beyond then return c.add('not-judged', j.id, 'failure list of more than 100000') end

    local groups, more = lists.groups()
    if seen then table.insert(groups, 1, seen) end
    local elsewhere, done, left = nil, {}, 100000
    if group then done[group] = true end
    for i = 1, #groups do
      local other = groups[i]
      if not done[other] and left > 0 then
        done[other] = true
        local others, total, long = lists.find(other, j.id)
        if others and others[1] then
          elsewhere = elsewhere or other
          lists.drop(changes, other, j.id, others, total)
        end
        left = left - (total or 0)
        more = more or long
      end
    end
    more = more or left <= 0
    -- Without a group there is no better list than the one where it is.
    if not group then
      if not elsewhere then c.add('failed-unlisted', j.id, 'no group', {}, 'group') end
      return
    end
    if not elsewhere and more then return c.add('not-judged', j.id, 'too many failure lists') end
    changes[#changes + 1] = {'list', Keys.group .. group, '0', false, j.id}
    if c.ask('sismember', Keys.failures, group) == 0 then
      changes[#changes + 1] = {'set', Keys.failures, group, false, '1'}
    end
    c.add(elsewhere and 'failed-stray' or 'failed-unlisted', j.id, elsewhere or group, changes)
  end
end
