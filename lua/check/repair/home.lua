-- Finds the set of a queue to which a misplaced job belongs, and the job's score there.
-- Takes: job; the part (set) that its state names; its present entries
-- Result: part and score, and further changes; no score if its lock could only expire at an absurdly late time
return function(check)
  local number, too_late = need('value/number'), check.need('judge/lock_too_late')

  return function(job, home, entries)
    local best, extra = nil, {}
    for i = 1, #entries do
      local entry = entries[i]
      if entry.part == home and not best then best = entry.score end
      if entry.part == Keys.scheduled and job.state == 'waiting' and not best then
        home, best = entry.part, entry.score
      end
    end
    if home == Keys.work then
      return home, best and check.fits_priority(job, best) and best or check.work_score(job), extra
    elseif home == Keys.scheduled then
      local due = best or number(job.scheduled) and check.score(number(job.scheduled))
      if due then return home, due, extra end
      extra[1] = {'hash', job.key, 'state', job.state, 'waiting'}
      for i = 1, #entries do
        local entry = entries[i]
        if entry.part == Keys.work and check.fits_priority(job, entry.score) then best = best or entry.score end
      end
      return Keys.work, best or check.work_score(job), extra
    elseif home == Keys.depends then
      return home, best or check.score(check.put_time(job)), extra
    elseif home == Keys.throttled then
      return home, best or check.score(-tonumber(check.work_score(job))), extra
    end
    local expires, lock = number(job.expires), tonumber(best or nil)
    local absurd = {expires and too_late(job.queue, expires), lock and too_late(job.queue, lock)}
    if absurd[1] then expires = nil end
    if absurd[2] then lock = nil end
    if not expires and not lock then
      if absurd[1] or absurd[2] then return home end
      lock = check.now
    end
    lock = math.max(lock or expires, expires or lock)
    -- If the lock still expires at the time in the field `expires`, no grace period has begun: remove field `grace`.
    local over = job.grace and expires and lock <= expires + check.rounding
    if over then extra[1] = {'hash', job.key, 'grace', job.grace, false} end
    if over or not job.grace or not expires then
      check.need('judge/lock_agreement')(extra, job, check.score(lock), over)
    end
    return home, check.score(lock), extra
  end
end
