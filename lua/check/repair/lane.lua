-- Reads lanes, and plans what lane/join, lane/admit and lane/leave would do, as changes that can be reverted.
-- Result: a table of functions. A function that plans changes returns nil if the jobs do not allow them
return function(check)
  local lanes, ask, edges = {}, check.ask, check.need('judge/edge_sets')
  local find_cycle = need('dependency/find_cycle')

  -- Whether a job keeps a place in a lane.
  function lanes.is_live(job, lane)
    return job.lane == lane and job.state ~= 'complete' and (job.state ~= 'failed' or job.hold == '1')
  end

  -- What an entry of a lane is (`live`, `dead`; `odd` if that is unclear), and the job.
  function lanes.entry(lane, jid)
    local what, job = check.read(jid)
    if what == 'gone' or what == 'stub' then return 'dead', job end
    if what ~= 'job' then return 'odd', job, what end
    return lanes.is_live(job, lane) and 'live' or 'dead', job
  end

  -- The live job nearest to a rank in one direction, and its fields; nil if there is none, or if an entry on the way
  -- is unclear. Reads up to 1000 entries.
  local function nearest(lane, rank, step)
    local key = Keys.lane .. lane
    for i = 1, 1000 do
      local at = rank + i * step
      local jid = at >= 0 and ask('zrange', key, at, at)[1]
      if not jid then return nil end
      local what, job = lanes.entry(lane, jid)
      if what == 'live' then return jid, job end
      if what == 'odd' then return nil end
    end
  end

  -- The live job before a rank.
  function lanes.before(lane, rank) return nearest(lane, rank, -1) end

  -- Whether a live job stands before this one in its lane.
  function lanes.held(job)
    local key = job.lane or job.lane == nil and ask('hget', job.key, 'key')
    local rank = key and ask('zrank', Keys.lane .. key, job.id)
    return rank and rank > 0 and nearest(key, rank, -1) ~= nil
  end

  -- Whether job y lists job x as a dependency, or job x lists job y as a dependent.
  function lanes.has_edge(y, x)
    return ask('sismember', Keys.job .. y .. Keys.dependencies, x) ~= 0
      or ask('sismember', Keys.job .. x .. Keys.dependents, y) ~= 0
  end

  local function link(changes, y, x)
    local above, below = Keys.job .. y .. Keys.dependencies, Keys.job .. x .. Keys.dependents
    if ask('sismember', below, y) == 0 then changes[#changes + 1] = {'set', below, y, false, '1'} end
    if ask('sismember', above, x) == 0 then changes[#changes + 1] = {'set', above, x, false, '1'} end
  end

  -- Adds the changes that make a job wait for another one: the edge, and the state `depends` unless the job has
  -- failed. Sets `blocked` of the job if its state changes.
  function lanes.block(changes, job, before)
    local stays = job.state == 'depends' or job.state == 'failed'
    if find_cycle(job.id, {before}, true) ~= nil or not stays and edges.locked(job) then return nil end
    link(changes, job.id, before)
    if stays then return changes end
    local base = Keys.queue .. job.queue
    for _, part in ipairs({Keys.work, Keys.scheduled, Keys.throttled, Keys.locks}) do
      local score = ask('zscore', base .. part, job.id) or job.enters and job.enters[part]
      if score then
        changes[#changes + 1] = {'zset', base .. part, job.id, score, false}
        if part == Keys.scheduled then changes[#changes + 1] = {'hash', job.key, 'scheduled', job.scheduled, score} end
      end
    end
    check.need('repair/held').drop_pending(changes, job)
    local held = ask('zscore', base .. Keys.depends, job.id) or false
    changes[#changes + 1] = {'zset', base .. Keys.depends, job.id, held, check.score(check.put_time(job))}
    changes[#changes + 1] = {'hash', job.key, 'state', job.state, 'depends'}
    job.blocked = true
    return changes
  end

  -- The changes that put a job into its lane: a running job before all others, any other job at the end, or before
  -- the first job that depends on it. If the lane itself was lost, the edges between its jobs restore their order.
  function lanes.join(job)
    local key, before, at, place, behind = Keys.lane .. job.lane, nil, nil, nil, nil
    local entries, runs = ask('zrange', key, 0, 1999, 'WITHSCORES'), job.state == 'running'
    if #entries > 2000 then return nil end
    for i = 1, #entries, 2 do
      local score = tonumber(entries[i + 1])
      local what, other = lanes.entry(job.lane, entries[i])
      if what == 'odd' then return nil end
      if what == 'live' then
        if runs or find_cycle(job.id, {entries[i]}, true) ~= nil then
          place, behind = at and (at + score) / 2 or score - 1, other
          break
        end
        before = entries[i]
      end
      at = score
    end
    local changes = {{'zset', key, job.id, false, check.score(place or (at or 0) + 1)}}
    if before and not lanes.block(changes, job, before) then return nil end
    if behind and runs then
      if behind.state == 'running' or not lanes.block(changes, behind, job.id) then return nil end
    elseif behind and (behind.state == 'depends' or behind.state == 'failed') then
      local list = before and edges.cut(behind.id, before) or {}
      for i = 1, #list do changes[#changes + 1] = list[i] end
      link(changes, behind.id, job.id)
    end
    return changes
  end

  -- The live job behind a rank, and its fields.
  function lanes.behind(lane, rank) return nearest(lane, rank, 1) end

  lanes.link = link
  return lanes
end
