-- Checks that a failed job is in its group's list exactly once, and in no other failure list.
-- Takes: job; the group in whose list the check met the job, if any; the job's group, if the caller has read all
--   failure lists and found the job in none, else nil
return function(check)
  local lists = check.need('index/failure_lists')

  -- Whether the call looks for a finding that requires a search of the failure lists.
  local function needs_search()
    return check.outcome('failed-stray') or check.outcome('failed-unlisted') or check.outcome('failed-twice')
      or check.outcome('failed-counter')
  end

  return function(job, seen, absent)
    local group, when, restored = check.need('judge/failure')(job)
    local wrong = job.failure and 'failure' or 'no failure'
    if not when and group then
      local changes = {}
      if restored then
        changes[1] = {'hash', job.key, 'failure', job.failure, restored}
        if job.failure then
          changes[2] = {'hash', job.key, 'bad-failure', check.ask('hget', job.key, 'bad-failure'), job.failure}
        end
      end
      check.add('job-unreadable', job.id, wrong, changes)
    end

    if group and not needs_search() then return end
    if absent ~= group then absent = nil end
    local changes, places, beyond = {}, {}, false
    if group then
      -- If the caller found no entry, search only the newest 1000, where a repair since then would have added one.
      local found, _, long = lists.find(group, job.id, absent and 1000)
      if not found then return end
      places, beyond = found, long and not absent
    end
    if places[2] then
      local first = table.remove(places, 1)
      lists.drop(changes, group, job.id, places, 0)
      table.insert(places, 1, first)
      check.add('failed-twice', job.id, group, changes)
    end
    if places[1] then
      if when then check.need('index/day_counter')(job, when) end
      if seen and seen ~= group then
        local others, total = lists.find(seen, job.id)
        if others and others[1] then
          changes = {}
          lists.drop(changes, seen, job.id, others, total)
          check.add('failed-twice', job.id, seen, changes)
        end
      end
      return
    end
    if beyond then return check.add('not-judged', job.id, 'failure list of more than 100000') end

    local groups, more = {}, false
    if not absent then groups, more = lists.groups() end
    if seen then table.insert(groups, 1, seen) end
    local elsewhere, done, left = nil, {}, 100000
    if group then done[group] = true end
    for i = 1, #groups do
      local other = groups[i]
      if not done[other] and left > 0 then
        done[other] = true
        local others, total, long = lists.find(other, job.id)
        if others and others[1] then
          elsewhere = elsewhere or other
          lists.drop(changes, other, job.id, others, total)
        end
        left = left - (total or 0)
        more = more or long
      end
    end
    more = more or left <= 0
    -- If the failure names no group, no list is wrong for the job: report the failure, and change no list.
    if not group then
      if not elsewhere and not more then wrong = wrong .. ', in no list' end
      return check.add('job-unreadable', job.id, wrong, {}, 'part')
    end
    if not elsewhere and more then return check.add('not-judged', job.id, 'too many failure lists') end
    changes[#changes + 1] = {'list', Keys.group .. group, '0', false, job.id}
    if check.ask('sismember', Keys.failures, group) == 0 then
      changes[#changes + 1] = {'set', Keys.failures, group, false, '1'}
    end
    check.add(elsewhere and 'failed-stray' or 'failed-unlisted', job.id, elsewhere or group, changes)
  end
end
