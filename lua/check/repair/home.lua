-- Returns where a misplaced job belongs.
-- Takes: job; the part that its state names; its present entries
-- Returns: part and score, and further changes; no score if every possible end of its lock is absurd
return function(c)
  local number, too_late = need('value/number'), c.need('judge/lock_too_late')

  return function(j, home, entries)
    local best, extra = nil, {}
    for i = 1, #entries do
      local entry = entries[i]
      if entry.part == home and not best then best = entry.score end
      if entry.part == Keys.scheduled and j.state == 'waiting' and not best then
        home, best = entry.part, entry.score
      end
    end
    if home == Keys.work then
      return home, best and c.fits_priority(j, best) and best or c.work_score(j), extra
    elseif home == Keys.scheduled then
      local due = best or number(j.scheduled) and c.score(number(j.scheduled))
      if due then return home, due, extra end
      extra[1] = {'hash', j.key, 'state', j.state, 'waiting'}
      for i = 1, #entries do
        local entry = entries[i]
        if entry.part == Keys.work and c.fits_priority(j, entry.score) then best = best or entry.score end
      end
      return Keys.work, best or c.work_score(j), extra
    elseif home == Keys.depends then
      return home, best or c.score(c.put_time(j)), extra
    elseif home == Keys.throttled then
      return home, best or c.score(-tonumber(c.work_score(j))), extra
    end
    local expires, lock = number(j.expires), tonumber(best or nil)
    local absurd = {expires and too_late(j.queue, expires), lock and too_late(j.queue, lock)}
    if absurd[1] then expires = nil end
    if absurd[2] then lock = nil end
    if not expires and not lock then
      if absurd[1] or absurd[2] then return home end
      lock = c.now
    end
    lock = math.max(lock or expires, expires or lock)
    -- A lock that expires when the field says so has no grace period.
    local over = j.grace and expires and lock <= expires + 0.001
    if over then extra[1] = {'hash', j.key, 'grace', j.grace, false} end
    if over or not j.grace or not expires then c.need('judge/lock_agreement')(extra, j, c.score(lock), over) end
    return home, c.score(lock), extra
  end
end
