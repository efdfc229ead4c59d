-- Checks the lock of a running job, and that its worker is known and lists the job.
-- Takes: job
return function(check)
  local number, too_late = need('value/number'), check.need('judge/lock_too_late')
  return function(job)
    local expires = number(job.expires)
    local locks = Keys.queue .. job.queue .. Keys.locks
    local lock = job.scores and job.scores[Keys.locks] or check.ask('zscore', locks, job.id)
    local n = tonumber(lock or nil)
    local judged = lock and expires
    if n and too_late(job.queue, n) or expires and too_late(job.queue, expires) then
      check.add('clock', job.id, 'locked until ' .. check.score(math.max(n or expires, expires or n)))
      judged = false
    elseif lock then
      local changes = {}
      if not expires then
        check.need('judge/lock_agreement')(changes, job, lock)
      elseif job.grace and n < expires - check.rounding or not job.grace and math.abs(n - expires) > check.rounding then
        local later = check.score(math.max(n, expires))
        if n < expires then changes[1] = {'zset', locks, job.id, lock, later} end
        check.need('judge/lock_agreement')(changes, job, later)
      end
      if changes[1] then
        judged = false
        check.add('score', job.id, 'locked until ' .. lock .. ', expires ' .. (job.expires or 'never'), changes)
      end
    end
    -- If the job names no worker, there is no list of jobs to check.
    if not job.worker or job.worker == '' then return end
    local known, wrong = check.ask('zscore', Keys.workers, job.worker)
    if not known and not wrong then check.add('worker-unknown', job.worker, '') end
    if job.grace or not judged then return end
    local key = Keys.worker .. job.worker .. Keys.held
    local held
    held, wrong = check.ask('zscore', key, job.id)
    if wrong then
      check.wrong_type(key, 'zset')
    elseif not held or math.abs(tonumber(held) - expires) > check.rounding then
      check.add('worker-gap', job.id, job.worker, {{'zset', key, job.id, held, check.score(expires)}},
        not known and 'aged' or nil)
    end
  end
end
