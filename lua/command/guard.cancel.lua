-- Deletes jobs that have not changed since their marks were read. All jobs are verified before the first is deleted.
-- After 20000 tags, dependencies and dependents the reply ends, and leaves the further jobs for the next call.
-- Takes: refuse|cancel|release (what happens to dependents), then per job: jid mark
-- Result: per job outcome, mark and details: `done` (further deleted or released jids), `gone`, `complete`,
--   `state_changed`, `has_dependents` (which; of very many the first), `invalid` (why)
-- Refuses: wrong words, more than 500 jobs
-- Publishes: as cancel

-- Beyond `max_jobs` deleted jobs or `max_links_below` tags and dependencies of dependents, the call deletes no job.
-- It keeps a job with more than `max_dependents`. After `max_links` tags and dependencies of given jobs, it ends.
local max_jobs, max_dependents, max_links, max_links_below = 5000, 20000, 20000, 50000

return function(argv, now)
  local call, mode, reply, rows = redis.call, argv[3], {}, {}
  if mode ~= 'refuse' and mode ~= 'cancel' and mode ~= 'release' then
    error('Guard(): "refuse", "cancel" or "release" missing')
  end
  local count = (#argv - 3) / 2
  if count % 1 ~= 0 then error('Guard(): jid and mark for each job') end
  if count > 500 then error('Guard(): more than 500 jobs') end
  local outcome, key_fault = need('value/outcome_row'), need('value/key_fault')()

  -- 1. Verify each job by itself. `going`: the jids that can be deleted; `stays`: why a given job cannot.
  local going, order, stays, marks, trouble, jobs, links = {}, {}, {}, {}, {}, {}, 0
  local below, failed, dependents_of, mark_in_call = {}, {}, need('dependency/waiting_dependents'), {}
  for i = 4, #argv, 2 do
    if argv[i + 1] ~= '' or not mark_in_call[argv[i]] then mark_in_call[argv[i]] = argv[i + 1] end
  end
  local judge_alone = need('job/deletable')(key_fault)
  local function judge(jid)
    local why, detail, mark, job = judge_alone(jid)
    marks[jid], jobs[jid] = mark, job
    if job then links = links + #job.dependencies + #(job.tag_list or {}) end
    return why, detail
  end
  local function find_dependents(jid)
    local found, apart, size = dependents_of(jid, true, max_dependents, mode == 'refuse' and mark_in_call)
    below[jid], failed[jid] = found, apart
    if not below[jid] then
      going[jid], stays[jid], trouble[jid] = nil, 'invalid', 'more than ' .. max_dependents .. ' dependents'
    end
    return size
  end
  for i = 1, count do
    local jid, mark = argv[2 + 2 * i], argv[3 + 2 * i]
    if not going[jid] and not stays[jid] then
      stays[jid], trouble[jid] = judge(jid)
      if not stays[jid] then
        going[jid] = true
        order[#order + 1] = jid
      end
    end
    if going[jid] and mark ~= '' and mark ~= marks[jid] then
      -- A jid that is given with several marks is deleted only if all of them are the present mark.
      going[jid], stays[jid] = nil, 'state_changed'
    end
    if going[jid] and not below[jid] then links = links + find_dependents(jid) end
    if links > max_links then count = i end
    if i == count then break end
  end

  -- 2. With `cancel`, find the dependents of all levels, which are to be deleted, too.
  local blocked = {}
  local function test_release(jid)
    for _, name in ipairs(below[jid]) do
      local base = Keys.queue .. (call('hget', Keys.job .. name, 'queue') or '')
      local fault = key_fault('zset', base .. Keys.depends, 'zset', base .. Keys.work, 'zset', base .. Keys.scheduled)
      if fault then going[jid], stays[jid], trouble[jid] = nil, 'invalid', fault end
    end
  end
  local function add_dependents(jid)
    for _, name in ipairs(below[jid]) do
      if not going[name] and not stays[name] and not blocked[name] then
        blocked[name], trouble[name] = judge(name)
        -- A dependent may be one of the given jobs that are left for the next call: its mark must fit, too.
        local mark = mark_in_call[name] or ''
        if mark ~= '' and mark ~= marks[name] then blocked[name] = blocked[name] or 'state_changed' end
        if not blocked[name] then
          going[name] = true
          order[#order + 1] = name
          if #order > max_jobs then return end
        end
      end
    end
  end
  local position, limit = 1, links + max_links_below
  while order[position] and #order <= max_jobs and links <= limit do
    local jid = order[position]
    if going[jid] and not below[jid] then
      local size = find_dependents(jid)
      links = links + size - #(below[jid] or {})
    end
    if going[jid] and mode == 'release' then
      test_release(jid)
    elseif going[jid] and mode == 'cancel' then
      add_dependents(jid)
    end
    position = position + 1
  end
  local too_many = #order > max_jobs and max_jobs .. ' jobs'
    or links > limit and max_links_below .. ' tags and dependencies'

  -- 3. A job that is not deleted keeps all jobs that it depends on, directly or through others.
  local staying = {}
  if mode ~= 'release' and not too_many then staying = need('dependency/keep_blocked')(going, below) end

  -- 4. Compose the reply. A dependent that was not given is deleted only if a given job above it is.
  local is_given, deleted, cascaded = {}, {}, {}
  for i = 1, count do is_given[argv[2 + 2 * i]] = true end
  local function cascade(jid, list)
    local stack = {jid}
    while stack[1] do
      local name = table.remove(stack)
      for _, other in ipairs(below[name] or {}) do
        if going[other] and not cascaded[other] and not is_given[other] then
          cascaded[other] = true
          list[#list + 1], deleted[#deleted + 1], stack[#stack + 1] = other, other, other
        end
      end
    end
  end
  local function row_of(jid, present)
    if too_many and (going[jid] or not stays[jid]) then
      return outcome('invalid', present, 'more than ' .. too_many .. ' below')
    elseif stays[jid] then
      return outcome(stays[jid], present, trouble[jid] or {})
    elseif not going[jid] then
      return outcome('has_dependents', present, staying[jid] or {})
    end
    local further = {}
    deleted[#deleted + 1] = jid
    if mode == 'cancel' then cascade(jid, further) end
    return outcome('done', '', further)
  end
  for i = 1, count do
    local jid, mark = argv[2 + 2 * i], argv[3 + 2 * i]
    local present = marks[jid] or ''
    rows[jid] = rows[jid] or row_of(jid, present)
    reply[i] = rows[jid]
    if stays[jid] == 'complete' and mark ~= '' and mark ~= present then reply[i] = outcome('state_changed', present) end
  end

  -- 5. With `release`, release the dependents. Then delete the jobs.
  for _, jid in ipairs(deleted) do
    if mode == 'release' then need('dependency/release_below')(now, jid, below[jid] or {}, going, rows[jid]) end
    for _, name in ipairs(failed[jid] or {}) do call('srem', Keys.job .. name .. Keys.dependencies, jid) end
  end
  if deleted[1] then need('job/delete')(now, deleted, true, call('exists', Keys.tracked) == 1, jobs) end
  return reply
end
