-- Creates the jobs of due templates. Each template continues at its next run; runs beyond its backlog are
-- skipped. Children have the first 1000 tags of their template, because more would hold up the server.
-- Takes: now; t; queue; templates as jid, time, ...; the maximum number of jobs; what the call may still bring
--   (queue/call_budget), whose `tags` this reduces
-- Result: the number of jobs; how many runs made none, and templates that are gone
local Template = Fields('jid', 'klass', 'data', 'priority', 'tags', 'retries', 'interval', 'backlog', 'count',
  'opts')

return function(now, t, queue, due, limit, budget)
  local call, floor = redis.call, math.floor
  local base = Keys.queue .. queue
  local whole_tries, place = need('value/whole_tries'), need('queue/place')
  local target = {base = base, work = {}, scheduled = {}}
  local moved, skipped, work, next_runs, gone, tagged = 0, 0, target.work, {}, {}, {}
  local defaults = redis.pcall('hget', Keys.config, queue .. '-defaults')
  for n = 1, #due, 2 do
    if budget.tags <= 0 then break end
    local id = due[n]
    local key = Keys.recurring .. id
    local template = call('hmget', key, unpack(Template))
    local interval = tonumber(template[Template.interval])
    if not (template[Template.jid] and template[Template.klass] and template[Template.data] and interval
      and interval > 0) then
      gone[#gone + 1] = id
    else
      local at = floor(tonumber(due[n + 1]))
      local backlog, count = tonumber(template[Template.backlog]) or 0, tonumber(template[Template.count]) or 0
      local started, priority, tried = moved, tonumber(template[Template.priority]) or 0, 0
      if not (count >= 0 and count < 9e15) then count = 0 end
      if priority - priority ~= 0 then priority = 0 end
      local behind = (now - at) / interval
      if backlog > 0 and behind > backlog then at = at + math.ceil(behind - backlog) * interval end
      local stored = template[Template.tags]
      local tags = stored and stored ~= '{}' and need('job/tags')(stored) or {}
      if tags[1001] then
        -- Charge a tenth of the tags to the call: decoding many takes time, too.
        budget.tags = budget.tags - math.floor(#tags / 10)
        tags = {unpack(tags, 1, 1000)}
        stored = cjson.encode(tags)
      end
      -- Make the first child even if the budget is used up, so that no call is without effect.
      local function may_make() return at <= now and moved < limit and (budget.tags > 0 or moved + skipped == 0) end
      local extended = (defaults or template[Template.opts]) and need('recurring/put_child')(queue, id, template, tags)
      -- A run whose job is a duplicate of another job makes no child and uses no number.
      local ticks, found = 0, true
      while extended and found and may_make() and skipped < 1000 and ticks < 1000 do
        local number, made = extended(at, count + 1)
        found = made ~= nil
        if found then at, ticks, budget.tags = at + interval, ticks + 1, budget.tags - #tags end
        if made then moved = moved + 1 elseif found then skipped = skipped + 1 end
        -- Go on behind numbers that are in use.
        count = (made or not found) and number or number - 1
      end
      if ticks > 0 or not found then call('hset', key, 'count', count) end
      if ticks > 0 then
        next_runs[#next_runs + 1], next_runs[#next_runs + 2] = at, id
        started = moved
      end
      while not extended and may_make() do
        -- Skip numbers that are in use, as after a template was created again: up to 1000 in one call. The next call
        -- continues there.
        count = count + 1
        local jid = id .. '-' .. count
        while tried < 1000 and call('exists', Keys.job .. jid) == 1 do
          count, tried = count + 1, tried + 1
          jid = id .. '-' .. count
        end
        if tried == 1000 then
          call('hset', key, 'count', count - 1)
          break
        end
        call('rpush', Keys.job .. jid .. Keys.history,
          '[' .. floor(at) .. ',"put",{"q":' .. cjson.encode(queue) .. '}]')
        call('hmset', Keys.job .. jid, 'jid', jid, 'klass', template[Template.klass], 'data', template[Template.data],
          'priority', priority, 'tags', tags[1] and stored or '{}', 'state', 'waiting', 'worker', '',
          'expires', '0', 'queue', queue, 'retries', template[Template.retries] or '0',
          'remaining', whole_tries(tonumber(template[Template.retries]) or 0), 'time', string.format('%.20f', at),
          'spawned_from_jid', id)
        for i = 1, #tags do
          local list = tagged[tags[i]]
          if not list then
            list = {}
            tagged[tags[i]] = list
          end
          list[#list + 1] = t
          list[#list + 1] = jid
        end
        place(at, t, jid, target, 'waiting', priority)
        moved = moved + 1
        at, budget.tags = at + interval, budget.tags - #tags
      end
      if moved > started then
        if tried < 1000 then call('hset', key, 'count', count) end
        next_runs[#next_runs + 1] = at
        next_runs[#next_runs + 1] = id
      end
    end
  end
  local in_chunks = need('value/in_chunks')
  if gone[1] then in_chunks('zrem', base .. Keys.recur, gone, 1, #gone) end
  if next_runs[1] then in_chunks('zadd', base .. Keys.recur, next_runs, 1, #next_runs) end
  if work[1] then
    need('queue/enter')(target)
    for tag, list in pairs(tagged) do
      local added = in_chunks('zadd', Keys.tag .. tag, list, 1, #list)
      if added > 0 then call('zincrby', Keys.tags, added, tag) end
    end
    call('zadd', Keys.queues, 'NX', t, queue)
    if call('exists', Keys.failed_times) == 1 then
      -- Remove the times of failures that earlier jobs with these jids may have left.
      local jids = {}
      for i = 2, #work, 2 do jids[#jids + 1] = work[i] end
      need('failure/forget_times')(jids)
    end
  end
  return moved, skipped + #gone
end
