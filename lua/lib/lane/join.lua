-- Adds a job to the end of a lane. If a job of the lane depends on the new one, the new one goes before that job
-- instead, so that no cycle of dependencies arises.
-- Takes: now; lane; jid; whether other jobs may depend on it
-- Result: the jid of the job before it in the lane, on which the caller lets it depend; nil if it is the first

-- Gives all entries of a lane new scores, whole numbers, and leaves one free before the entry at index `gap`. Returns
-- the free score.
local function renumber(key, entries, gap)
  local places, place, free = {}, 0, nil
  for i = 1, #entries, 2 do
    place = place + 1
    if i == gap then place, free = place + 1, place end
    places[i], places[i + 1] = place, entries[i]
  end
  need('value/in_chunks')('zadd', key, places, 1, #places)
  return free
end

-- The set of jobs that depend on a job, directly or through others. Nil if there are too many to read.
local function find_jobs_below(jid)
  local below, stack, edges = {}, {jid}, 0
  while stack[1] do
    local names = redis.pcall('smembers', Keys.job .. table.remove(stack) .. Keys.dependents)
    edges = edges + #names
    if edges > 100000 then return nil end
    for i = 1, #names do
      if not below[names[i]] then below[names[i]], stack[#stack + 1] = true, names[i] end
    end
  end
  return below
end

local Job = Fields('lane/live')

return function(now, lane, jid, awaited)
  local call, key = redis.call, Keys.lane .. lane
  local last, _, place = need('lane/last')(now, lane)
  need('lane/heal')(now, lane, last)
  if last and awaited and need('dependency/find_cycle')(jid, {last}, true) ~= nil then
    local entries = call('zrange', key, 0, -1, 'WITHSCORES')
    local live, below, before, at = need('lane/live'), find_jobs_below(jid), nil, nil
    for i = 1, #entries, 2 do
      local name, score = entries[i], tonumber(entries[i + 1])
      local job = live(lane, name)
      if job then
        -- Find the first job that depends on the new one, or may do so if there are too many to read. The last job is
        -- such a job. A job depends on no other unless its state is `depends`.
        if name == last or job[Job.state] == 'depends' and (not below or below[name]) then
          local middle = at and (at + score) / 2 or score - 1
          if not (middle < score and middle > (at or -math.huge)) then
            middle = renumber(key, entries, i)
          end
          call('zadd', key, string.format('%.17g', middle), jid)
          if before then need('dependency/unlink')(name, {before}) end
          need('dependency/link')(name, {jid})
          return before
        end
        before = name
      end
      at = score
    end
  end
  need('lane/append')(lane, jid, place)
  return last
end
