-- Checks that a failed job is once in the list of its group, and in no other list.
-- Takes: job; the group in whose list the check met it, if any; the group whose list does not have it, like
--   any other list, as the caller has read
return function(c)
  local lists = c.need('index/failure_lists')

  -- Whether a finding that requires a search of the lists is asked for.
  local function searches()
    return c.outcome('failed-stray') or c.outcome('failed-unlisted') or c.outcome('failed-twice')
      or c.outcome('failed-counter')
  end

  return function(j, seen, absent)
    local group, when, restored = c.need('judge/failure')(j)
    local wrong = j.failure and 'failure' or 'no failure'
    if not when and group then
      local changes = {}
      if restored then
        changes[1] = {'hash', j.key, 'failure', j.failure, restored}
        if j.failure then
          changes[2] = {'hash', j.key, 'bad-failure', c.ask('hget', j.key, 'bad-failure'), j.failure}
        end
      end
      c.add('job-unreadable', j.id, wrong, changes)
    end

    if group and not searches() then return end
    if absent ~= group then absent = nil end
    local changes, places, beyond = {}, {}, false
    if group then
      -- An entry that another repair has added since is among the newest ones.
      local found, _, long = lists.find(group, j.id, absent and 1000)
      if not found then return end
      places, beyond = found, long and not absent
    end
    if places[2] then
      local first = table.remove(places, 1)
      lists.drop(changes, group, j.id, places, 0)
      table.insert(places, 1, first)
      c.add('failed-twice', j.id, group, changes)
    end
    if places[1] then
      if when then c.need('index/day_counter')(j, when) end
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

    local groups, more = {}, false
    if not absent then groups, more = lists.groups() end
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
    -- Without a group, the list that holds the job is as good as any.
    if not group then
      if not elsewhere and not more then wrong = wrong .. ', in no list' end
      return c.add('job-unreadable', j.id, wrong, {}, 'part')
    end
    if not elsewhere and more then return c.add('not-judged', j.id, 'too many failure lists') end
    changes[#changes + 1] = {'list', Keys.group .. group, '0', false, j.id}
    if c.ask('sismember', Keys.failures, group) == 0 then
      changes[#changes + 1] = {'set', Keys.failures, group, false, '1'}
    end
    c.add(elsewhere and 'failed-stray' or 'failed-unlisted', j.id, elsewhere or group, changes)
  end
end
