-- Checks the stored number of jobs that failed in a queue on a day against the failure lists. The lists are counted
-- once per call.
-- Takes: key of the counters; their day and queue
local Job = Fields('state', 'queue', 'failure')

return function(check)
  local counts, made, number = nil, nil, need('value/number')

  -- The time when a job failed. If the text has `"when"` once, as usual, the time is found without decoding the
  -- text.
  local function failed_at(text)
    local when, rest = string.match(text or '', '"when":(%d+)[,}]()')
    if when and not string.find(text, '"when"', rest, true) then return tonumber(when) end
    return number(need('failure/decode')(text).when)
  end

  -- Counts the failed jobs by day and queue. A queue with a failure that cannot be read is not judged.
  local function count_failed()
    local all, total, seen = {}, 0, {}
    local groups, more = check.need('index/failure_lists').groups()
    if more then return {beyond = true} end
    for i = 1, #groups do
      local length = check.ask('llen', Keys.group .. groups[i])
      if not length then return {} end
      total = total + length
    end
    if not groups[1] and check.ask('scard', Keys.failures) == nil then return {} end
    if total > 2000 then return {beyond = true} end
    local odd = {}
    for i = 1, #groups do
      local jids = check.ask('lrange', Keys.group .. groups[i], 0, -1) or {}
      for k = 1, #jids do
        local job = not seen[jids[k]] and check.ask('hmget', Keys.job .. jids[k], unpack(Job))
        seen[jids[k]] = true
        if job and job[Job.state] == 'failed' and job[Job.queue] then
          local when = failed_at(job[Job.failure])
          if when then
            local day = when - when % 86400 .. ':' .. job[Job.queue]
            all[day] = (all[day] or 0) + 1
          else
            odd[job[Job.queue]] = true
          end
        end
      end
    end
    return {all = all, odd = odd}
  end

  return function(key, day, queue)
    if not check.outcome('failed-counter') then return end
    local stored, wrong = check.ask('hget', key, 'failed')
    if wrong then return end
    -- Count again if this call has changed a failure list since the lists were counted.
    if made ~= check.relisted then counts, made = count_failed(), check.relisted end
    local item = string.sub(key, #Keys.prefix + 1)
    if counts.beyond then return check.add('not-judged', item, 'more than 2000 failed jobs') end
    -- If a list cannot be read, there is no count to compare with. Another finding reports such a list.
    if not counts.all then return end
    if counts.odd[queue] then return check.add('not-judged', item, 'a failure that can not be read') end
    local real = counts.all[day .. ':' .. queue] or 0
    if (stored or '0') ~= '' .. real then
      check.add('failed-counter', item, (stored or 'none') .. ', is ' .. real,
        {{'hash', key, 'failed', stored, '' .. real}})
    end
  end
end
