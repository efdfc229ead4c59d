-- Checks a template: its fields, the document of its pause, and that only the schedule of its queue has it.
-- Takes: jid; the queue in whose schedule the check met it, if any
local Template = Fields('judge/template_fields')

return function(check)
  local number = need('value/number')

  -- The template's entries in the schedules of other queues, and whether there are too many queues to read them all.
  local function elsewhere(id, own, seen, all)
    local queues, more, found, done = {}, false, {}, {[own] = true}
    local function enter(queue)
      if done[queue] then return end
      done[queue] = true
      local score = check.ask('zscore', Keys.queue .. queue .. Keys.recur, id)
      if score then found[#found + 1] = {queue, score} end
    end
    if all then queues, more = check.queues() end
    if seen then enter(seen) end
    for i = 1, #queues do enter(queues[i]) end
    table.sort(found, function(a, b) return a[1] < b[1] end)
    return found, more
  end

  return function(id, seen)
    check.need('judge/paused')(id)
    local key = Keys.recurring .. id
    local values, wrong = check.ask('hmget', key, unpack(Template))
    if wrong then return check.wrong_type(key, 'hash') end
    local queue, interval, count = values[Template.queue], number(values[Template.interval]),
      number(values[Template.count])
    if not queue and redis.call('exists', key) == 0 then return end
    local function report(what) check.add('recurring-invalid', id, what, {}, 'part') end

    check.need('judge/template_fields')(id, values, key, report)
    if count and count >= 0 and count % 1 == 0 then
      -- Jobs of this template that `count` leaves out: those with the next numbers.
      local n = count
      while n < count + 100 and check.ask('hget', Keys.job .. id .. '-' .. string.format('%.0f', n + 1),
        'spawned_from_jid') == id do
        n = n + 1
      end
      if n > count then check.need('judge/template_count')(id, n) end
    end
    if not queue then return end

    local own = Keys.queue .. queue .. Keys.recur
    local next_run
    next_run, wrong = check.ask('zscore', own, id)
    if wrong then return check.wrong_type(own, 'zset') end
    local found, more = elsewhere(id, queue, seen, not next_run)
    local changes = {}
    for i = 1, #found do
      changes[i] = {'zset', Keys.queue .. found[i][1] .. Keys.recur, id, found[i][2], false}
    end
    if not interval or interval <= 0 then
      if next_run then table.insert(changes, 1, {'zset', own, id, next_run, false}) end
      check.add('recurring-invalid', id, 'interval', changes, not changes[1] and 'part' or nil)
    elseif changes[1] then
      if not next_run then
        changes[#changes + 1] = {'zset', own, id, false, found[1][2]}
        check.list_queue(changes, queue)
      end
      check.add('recurring-foreign', id, found[1][1], changes)
    elseif not next_run then
      if more then
        check.add('not-judged', id, 'more than 500 queues')
      else
        changes[1] = {'zset', own, id, false, check.score(check.now + interval)}
        check.list_queue(changes, queue)
        check.add('recurring-unscheduled', id, queue, changes)
      end
    elseif tonumber(next_run) < 0 or tonumber(next_run) > check.last_due then
      report('next run at ' .. next_run)
    end
    check.need('index/queue_listed')(queue)
  end
end
