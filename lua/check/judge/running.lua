-- Checks the lock of a running job and the list of its worker.
-- Takes: job
return function(c)
  local number, too_late = need('value/number'), c.need('judge/lock_too_late')
  return function(j)
    local expires = number(j.expires)
    local locks = Keys.queue .. j.queue .. Keys.locks
    local lock = j.scores and j.scores[Keys.locks] or c.ask('zscore', locks, j.id)
    local n = tonumber(lock or nil)
    local judged = lock and expires
    if n and too_late(j.queue, n) or expires and too_late(j.queue, expires) then
      c.add('clock', j.id, 'locked until ' .. c.score(math.max(n or expires, expires or n)))
      judged = false
    elseif lock then
      local changes = {}
      if not expires then
        c.need('judge/lock_agreement')(changes, j, lock)
      elseif j.grace and n < expires - 0.001 or not j.grace and math.abs(n - expires) > 0.001 then
        local later = c.score(math.max(n, expires))
        if n < expires then changes[1] = {'zset', locks, j.id, lock, later} end
        c.need('judge/lock_agreement')(changes, j, later)
      end
      if changes[1] then
        judged = false
        c.add('score', j.id, 'locked until ' .. lock .. ', expires ' .. (j.expires or 'never'), changes)
      end
    end
    -- A worker without a name has no list.
    if not j.worker or j.worker == '' then return end
    local known, wrong = c.ask('zscore', Keys.workers, j.worker)
    if not known and not wrong then c.add('worker-unknown', j.worker, '') end
    if j.grace or not judged then return end
    local key = Keys.worker .. j.worker .. Keys.held
    local held
    held, wrong = c.ask('zscore', key, j.id)
    if wrong then
      c.wrong_type(key, 'zset')
    elseif not held or math.abs(tonumber(held) - expires) > 0.001 then
      c.add('worker-gap', j.id, j.worker, {{'zset', key, j.id, held, c.score(expires)}}, not known and 'aged' or nil)
    end
  end
end
