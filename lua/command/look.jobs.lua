-- Reads stored fields of jobs, and facts about the jobs such as their dependents. A repeated jid is read once. After
-- 20000 dependencies and dependents the reply ends, and leaves the further jobs for the next call. Writes nothing.
-- Takes: brief|full|names separated by commas, jid ... With `brief:N` or `full:N`, longer data is cut to N bytes,
--   `data_length` is its whole length, and payloads are left out
-- Result: per jid: name, value, ...; nil if the job does not exist
-- Refuses: more than 500 jids or 100 names

local max_links = 20000

return function(argv, now)
  local call, pcall = redis.call, redis.pcall
  local what = argv[3]
  if not what then error('Look(): "brief", "full" or names missing') end
  if #argv - 3 > 500 then error('Look(): more than 500 jids') end
  local word, longest = string.match(what, '^(%a+):(%d+)$')
  what, longest = word or what, tonumber(longest)
  local wanted, fields, known = nil, {'jid', 'state', 'queue'}, {}
  local facts = 'shown since mark tracked due lock dependencies dependents unlisted history payloads slots'
  for name in string.gmatch(facts, '%a+') do
    known[name] = true
  end
  if what ~= 'brief' and what ~= 'full' then
    wanted = {}
    for name in string.gmatch(what .. ',', '([^,]*),') do
      if name == '' then error('Look(): empty name in ' .. what) end
      if not wanted[name] and not known[name] and name ~= 'jid' and name ~= 'state' and name ~= 'queue' then
        fields[#fields + 1] = name == 'legacy' and 'history' or name
      end
      if #fields > 100 then error('Look(): more than 100 names') end
      wanted[name] = true
    end
  end
  local function wants(name) return not wanted or wanted[name] end
  local mark_of, read_members, links = need('job/mark'), need('value/members'), 0
  local function members(key)
    local list = read_members(key)
    links = links + #list
    return list
  end
  local last_change = wants('since') and need('history/last_change')()
  local tracking = wants('tracked') and call('exists', Keys.tracked) == 1
  -- The row of a job, false if it does not exist.
  local function row_of(jid)
    local key = Keys.job .. jid
    local job, row = {}, {}
    local stored = wanted and pcall('hmget', key, unpack(fields)) or not wanted and pcall('hgetall', key)
    local function add(name, value)
      if value then
        row[#row + 1] = name
        row[#row + 1] = value
      end
    end
    if stored.err then
      -- If the key has another type, the job counts as missing. If the user may not read the key, an error is raised.
      need('value/wrong_type')(stored, false, 'hash', key, 'hmget', key, 'jid', 'state')
      stored = {}
    elseif wanted then
      for n = 1, #fields do
        job[fields[n]] = stored[n]
        if n > 3 then add(fields[n] == 'history' and 'legacy' or fields[n], stored[n]) end
      end
      for n = 1, 3 do
        if wanted[fields[n]] then add(fields[n], stored[n]) end
      end
    else
      for n = 1, #stored, 2 do
        local name, value = stored[n], stored[n + 1]
        job[name] = value
        if longest and name == 'data' and #value > longest then
          add('data_length', '' .. #value)
          value = string.sub(value, 1, longest)
        end
        add(name == 'history' and 'legacy' or name, value)
      end
    end
    if not job.jid then
      return false
    else
      local base = Keys.queue .. (job.queue or '')
      local lock
      if wants('lock') or wants('shown') then
        lock = pcall('zscore', base .. Keys.locks, jid)
        if type(lock) ~= 'string' then lock = nil end
      end
      if wants('shown') then
        add('shown', job.state == 'running' and lock and tonumber(lock) <= now and 'stalled' or job.state)
      end
      if wants('since') or wants('mark') then
        local mark, since, entry = mark_of(jid, job.state, job.queue)
        if wants('since') and entry and string.find(entry, '"throttled"', 1, true) then
          since = need('job/held_since')(now, jid, job.queue) or since
        elseif wants('since') and job.state == 'waiting' then
          since = need('job/waits_since')(now, jid, job.queue, since)
        elseif wants('since') and entry then
          since = last_change(jid, entry) or since
        end
        if wants('since') then add('since', since) end
        if wants('mark') then add('mark', mark) end
      end
      if wants('tracked') then add('tracked', tracking and call('zscore', Keys.tracked, jid) and '1' or '0') end
      if wants('due') then
        local due = pcall('zscore', base .. Keys.scheduled, jid)
        add('due', type(due) == 'string' and due)
      end
      if wants('lock') then add('lock', lock) end
      if wants('dependencies') then add('dependencies', members(key .. Keys.dependencies)) end
      if wants('dependents') then add('dependents', members(key .. Keys.dependents)) end
      if wanted and wanted.unlisted and job.state == 'depends' then
        -- Dependencies that do not list this job as a dependent, so that their completion will not release it.
        local unlisted = {}
        for _, name in ipairs(members(key .. Keys.dependencies)) do
          local state = pcall('hget', Keys.job .. name, 'state')
          if type(state) == 'string' and state ~= 'complete'
            and pcall('sismember', Keys.job .. name .. Keys.dependents, jid) == 0 then
            unlisted[#unlisted + 1] = name
          end
        end
        add('unlisted', unlisted)
      end
      if what == 'full' or wanted and wanted.history then
        local history = pcall('lrange', key .. Keys.history, 0, -1)
        add('history', history.err and {} or history)
      end
      if what == 'full' and not longest and job.dup == 'merge' or wanted and wanted.payloads then
        local payloads = pcall('zrange', key .. Keys.payloads, 0, -1, 'WITHSCORES')
        add('payloads', payloads[1] and payloads)
      end
      if wanted and wanted.slots then add('slots', need('throttle/held_by')(jid)) end
      return row
    end
  end
  local reply, rows, links_of, total = {}, {}, {}, 0
  for i = 4, #argv do
    local jid = argv[i]
    if rows[jid] == nil then
      links = 0
      rows[jid] = row_of(jid)
      links_of[jid] = links
    end
    reply[i - 3], total = rows[jid], total + links_of[jid]
    if total > max_links then break end
  end
  return reply
end
