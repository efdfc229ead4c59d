-- Removes a job from its lane. The next job then waits for the job before it in the lane, or is released if there
-- is none. Removes adjacent entries, too, if their jobs do not belong to the lane any more.
-- Takes: now; lane; jid; whether its dependents have been released already; a jid that stays in the lane for now
--   although its job has failed
-- Result: whether it was in the lane
local Job = Fields('lane/live')

return function(now, lane, jid, released, keeps)
  local call, key = redis.call, Keys.lane .. lane
  local live, unlink = need('lane/live'), need('dependency/unlink')
  -- Read only the first two entries: usually the job is the first of its lane.
  local first = redis.pcall('zrange', key, 0, 1)
  -- A key of another type counts as an empty lane.
  if first.err then return false end
  local rank, behind = 0, first[2]
  if first[1] ~= jid then
    rank = call('zrank', key, jid)
    if not rank then return false end
    behind = call('zrange', key, rank + 1, rank + 1)[1]
  end
  call('zrem', key, jid)
  local gone = {jid}
  local job = behind and live(lane, behind)
  while behind and not job do
    gone[#gone + 1] = behind
    call('zrem', key, behind)
    behind = call('zrange', key, rank, rank)[1]
    job = behind and live(lane, behind)
  end
  local before
  while rank > 0 do
    rank = rank - 1
    local name = call('zrange', key, rank, rank)[1]
    if name and (name == keeps or live(lane, name)) then
      before = name
      break
    end
    if name then
      call('zrem', key, name)
      gone[#gone + 1] = name
      unlink(jid, {name})
    end
  end
  if before then unlink(jid, {before}) end
  if not behind or released and not before and job[Job.state] ~= 'depends' then return true end
  unlink(behind, gone)
  if before then
    need('dependency/link')(behind, {before})
  elseif job[Job.state] == 'depends' and call('exists', Keys.job .. behind .. Keys.dependencies) == 0 then
    need('dependency/release_job')(now, behind, job[Job.queue] or '', job[Job.priority], job[Job.scheduled])
  end
  return true
end
