-- Checks scores, numbers and leftover fields of a job.
-- Takes: job
return function(c)
  local number = need('value/number')
  return function(j)
    local base, state = Keys.queue .. j.queue, j.state
    local time, priority = number(j.time), number(j.priority)
    -- Milliseconds instead of seconds, or a wrong clock.
    local ahead = time and time > c.now + 3600
    if ahead then c.add('clock', j.id, 'time is ' .. j.time) end

    if priority and (state == 'waiting' or state == 'stalled') then
      local score = j.scores and j.scores[Keys.work]
      if score and not c.fits_priority(j, score) and not ahead then
        c.add('score', j.id, 'priority ' .. j.priority .. ', placed at ' .. score,
          {{'zset', base .. Keys.work, j.id, score, c.work_score(j)}})
      end
    end
    if j.grace then
      local lock = state == 'running' and c.ask('zscore', base .. Keys.locks, j.id)
      local expires = number(j.expires)
      if state ~= 'running' or lock and expires and tonumber(lock) <= expires + 0.001 then
        local changes = {{'hash', j.key, 'grace', j.grace, false}}
        if state == 'running' then c.need('judge/lock_agreement')(changes, j, c.score(expires), true) end
        c.add('field-leftover', j.id, 'grace', changes)
      end
    end
    if j.scheduled and state ~= 'depends' then
      c.add('field-leftover', j.id, 'scheduled', {{'hash', j.key, 'scheduled', j.scheduled, false}})
    end
    c.need('judge/never_due')(j)
    local remaining, retries = number(j.remaining), number(j.retries)
    if remaining and retries and (remaining > retries or remaining < 0 and state ~= 'failed') then
      c.add('remaining', j.id, j.remaining .. ' of ' .. j.retries)
    end
  end
end
