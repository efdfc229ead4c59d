-- Checks a job's time, its score in the work set, its remaining tries, and fields that earlier states left behind.
-- Takes: job
return function(check)
  local number = need('value/number')
  return function(job)
    local base, state = Keys.queue .. job.queue, job.state
    local time, priority = number(job.time), number(job.priority)
    -- A time in the future is in milliseconds or from a wrong clock.
    local ahead = time and time > check.latest
    if ahead then check.add('clock', job.id, 'time is ' .. job.time) end

    if priority and (state == 'waiting' or state == 'stalled') then
      local score = job.scores and job.scores[Keys.work]
      if score and not check.fits_priority(job, score) and not ahead then
        check.add('score', job.id, 'priority ' .. job.priority .. ', placed at ' .. score,
          {{'zset', base .. Keys.work, job.id, score, check.work_score(job)}})
      end
    end
    if job.grace then
      local lock = state == 'running' and check.ask('zscore', base .. Keys.locks, job.id)
      local expires = number(job.expires)
      if state ~= 'running' or lock and expires and tonumber(lock) <= expires + check.rounding then
        local changes = {{'hash', job.key, 'grace', job.grace, false}}
        if state == 'running' then check.need('judge/lock_agreement')(changes, job, check.score(expires), true) end
        check.add('field-leftover', job.id, 'grace', changes)
      end
    end
    if job.scheduled and state ~= 'depends' then
      check.add('field-leftover', job.id, 'scheduled', {{'hash', job.key, 'scheduled', job.scheduled, false}})
    end
    check.need('judge/never_due')(job)
    local remaining, retries = number(job.remaining), number(job.retries)
    if remaining and retries and (remaining > retries or remaining < 0 and state ~= 'failed') then
      check.add('remaining', job.id, job.remaining .. ' of ' .. job.retries)
    end
  end
end
