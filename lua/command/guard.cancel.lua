-- Deletes jobs that still fit their marks. All are judged before the first is deleted.
-- Takes: refuse|cancel|release (what happens to dependents), then per job: jid mark
-- Returns: per job outcome, mark and details: `done` (further deleted or released jids), `gone`, `complete`,
--   `state_changed`, `has_dependents` (which), `invalid` (why)
-- Refuses: wrong words, more than 500 jobs
-- Publishes: as cancel
local most = 5000

-- Returns the dependents of a job that are in state `depends` and name it.
local function dependents_of(members, jid)
  local list = members(Keys.job .. jid .. Keys.dependents)
  local found = {}
  for i = 1, #list do
    local key = Keys.job .. list[i]
    local above = key .. Keys.dependencies
    local state, edge = redis.pcall('hget', key, 'state'), redis.pcall('sismember', above, jid)
    if type(state) == 'table' then need('value/wrong_type')(state, false, 'hash', key, 'hget', key, 'state') end
    if type(edge) == 'table' then need('value/wrong_type')(edge, false, 'set', above, 'sismember', above, jid) end
    if state == 'depends' and edge == 1 then found[#found + 1] = list[i] end
  end
  return found
end

return function(argv, now)
  local mode, reply, rows = argv[3], {}, {}
  if mode ~= 'refuse' and mode ~= 'cancel' and mode ~= 'release' then
    error('Guard(): "refuse", "cancel" or "release" missing')
  end
  local count = (#argv - 3) / 2
  if count % 1 ~= 0 then error('Guard(): jid and mark for each job') end
  if count > 500 then error('Guard(): more than 500 jobs') end
  local outcome, key_fault, mark_of, job_key_fault = need('value/outcome_row'), need('value/key_fault')(), need('job/mark'), need('job/key_fault')

  -- 1. Judge each job alone. `going`: jids that may go; `stays`: why a given job may not go.
  local going, order, stays, marks, trouble, told_of = {}, {}, {}, {}, {}, {}
  local function judge(jid)
    local job = redis.pcall('hmget', Keys.job .. jid, 'jid', 'state', 'queue', 'worker', 'tags', 'failure')
    if job.err then
      local key = Keys.job .. jid
      return 'invalid', need('value/wrong_type')(job, false, 'hash', key, 'hmget', key, 'jid', 'state')
    end
    if not job[1] then return 'gone' end
    marks[jid] = mark_of(jid, job[2], job[3])
    if job[2] == 'complete' then return 'complete' end
    local bad = job_key_fault(key_fault, jid, job[2], job[3], job[4], job[5], job[6])
    local names = bad and {} or redis.call('smembers', Keys.job .. jid .. Keys.dependencies)
    for i = 1, #names do bad = bad or key_fault('set', Keys.job .. names[i] .. Keys.dependents) end
    if bad then return 'invalid', bad end
    told_of[jid] = {job[2], job[3], job[6], job[4], job[5], names}
  end
  for i = 1, count do
    local jid, mark = argv[2 + 2 * i], argv[3 + 2 * i]
    local known = going[jid] or stays[jid]
    if not known then
      stays[jid], trouble[jid] = judge(jid)
      if not stays[jid] then
        going[jid] = true
        order[#order + 1] = jid
      end
    end
    if going[jid] and mark ~= '' and mark ~= marks[jid] then
      -- One mark of a jid that does not fit keeps the job, whatever the others say.
      going[jid], stays[jid] = nil, 'state_changed'
    end
  end

  -- 2. Find the dependents; with `cancel`, all levels of them.
  local below, blocked, members = {}, {}, need('value/members')
  local position = 1
  while order[position] do
    local jid = order[position]
    if going[jid] then
      below[jid] = dependents_of(members, jid)
      if mode == 'release' then
        for k = 1, #below[jid] do
          local queue = redis.call('hget', Keys.job .. below[jid][k], 'queue')
          local base = Keys.queue .. (queue or '')
          local bad = key_fault('zset', base .. Keys.depends, 'zset', base .. Keys.work, 'zset', base .. Keys.scheduled)
          if bad then going[jid], stays[jid], trouble[jid] = nil, 'invalid', bad end
        end
      end
      if mode == 'cancel' then
        for k = 1, #below[jid] do
          local name = below[jid][k]
          if not going[name] and not stays[name] and not blocked[name] then
            local why, detail = judge(name)
            if why then
              blocked[name], trouble[name] = why, detail
            else
              going[name] = true
              order[#order + 1] = name
            end
          end
        end
        if #order > most then break end
      end
    end
    position = position + 1
  end
  local too_many = #order > most

  -- 3. A job that stays keeps all its dependencies.
  local why = {}
  if mode ~= 'release' and not too_many then
    local above, queue = {}, {}
    for jid, list in pairs(below) do
      for k = 1, #list do
        local name = list[k]
        above[name] = above[name] or {}
        table.insert(above[name], jid)
        if not going[name] then queue[name] = true end
      end
    end
    local stack = {}
    for name in pairs(queue) do stack[#stack + 1] = name end
    while stack[1] do
      local name = table.remove(stack)
      for _, jid in ipairs(above[name] or {}) do
        if going[jid] then
          going[jid] = nil
          stack[#stack + 1] = jid
        end
      end
    end
    for jid, list in pairs(below) do
      if not going[jid] then
        why[jid] = {}
        for k = 1, #list do
          if not going[list[k]] then table.insert(why[jid], list[k]) end
        end
      end
    end
  end

  -- A descendant goes only with a given job above it that goes.
  local is_named = {}
  for i = 1, count do is_named[argv[2 + 2 * i]] = true end
  local gone, told = {}, {}
  local function take(jid, list)
    local stack = {jid}
    while stack[1] do
      local name = table.remove(stack)
      for k = 1, #(below[name] or {}) do
        local other = below[name][k]
        if going[other] and not told[other] and not is_named[other] then
          told[other] = true
          list[#list + 1], gone[#gone + 1], stack[#stack + 1] = other, other, other
        end
      end
    end
  end
  for i = 1, count do
    local jid = argv[2 + 2 * i]
    if not rows[jid] then
      if too_many and (going[jid] or is_named[jid] and not stays[jid]) then
        rows[jid] = outcome('invalid', marks[jid] or '', 'more than ' .. most .. ' jobs below')
      elseif going[jid] then
        local further = {}
        gone[#gone + 1] = jid
        if mode == 'cancel' then take(jid, further) end
        rows[jid] = outcome('done', '', further)
      elseif stays[jid] then
        rows[jid] = outcome(stays[jid], marks[jid] or '', trouble[jid] or {})
      else
        rows[jid] = outcome('has_dependents', marks[jid] or '', why[jid] or {})
      end
    end
    local mark = argv[3 + 2 * i]
    if stays[jid] == 'complete' and mark ~= '' and mark ~= marks[jid] then
      reply[i] = outcome('state_changed', marks[jid])
    else
      reply[i] = rows[jid]
    end
  end

  -- 4. Release the dependents, delete the jobs.
  if mode == 'release' then
    for i = 1, #gone do
      local jid = gone[i]
      for _, name in ipairs(below[jid] or {}) do
        if not going[name] then
          local key = Keys.job .. name
          need('dependency/unlink')(name, jid)
          if redis.call('exists', key .. Keys.dependencies) == 0 then
            local job = redis.call('hmget', key, 'queue', 'priority', 'scheduled')
            need('dependency/release_job')(now, name, job[1] or '', job[2], job[3])
            table.insert(rows[jid], name)
          end
        end
      end
    end
  end
  if gone[1] then need('job/delete')(gone, true, redis.call('exists', Keys.tracked) == 1, told_of) end
  return reply
end
