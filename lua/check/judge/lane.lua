-- Checks that a live job is in its lane, and that it depends on the live job before it.
-- Takes: job; its rank in the lane, if the caller has read it
return function(check)
  local lanes = check.need('repair/lane')

  return function(job, rank)
    if not lanes.is_live(job, job.lane) then return end
    if not rank then
      local key, wrong = Keys.lane .. job.lane, nil
      rank, wrong = check.ask('zrank', key, job.id)
      if wrong then return check.wrong_type(key, 'zset') end
    end
    if not rank then
      local changes = lanes.join(job)
      return check.add('lane-unlisted', job.id, job.lane, changes, not changes and 'beside' or nil)
    end
    local before = lanes.before(job.lane, rank)
    if not before then return end
    -- A failed job that holds its lane stays in state `failed`, even behind another job.
    if job.state ~= 'depends' and job.state ~= 'failed' then
      local changes = job.state ~= 'running' and lanes.block({}, job, before)
      return check.add('lane-order', job.id, before, changes or {}, not changes and 'beside' or nil)
    end
    -- A dependency that only one of the two jobs lists counts here. Another finding reports the missing half.
    if lanes.has_edge(job.id, before) then return end
    local changes = lanes.block({}, job, before)
    check.add('lane-edge', job.id, before, changes, not changes and 'beside' or nil)
  end
end
