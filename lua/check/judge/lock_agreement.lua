-- Adds the changes that make the field `expires` and the worker's list of a running job agree with its
-- lock, so that one finding repairs all three.
-- Takes: changes; job; when the lock expires, as text; whether this ends the grace period
return function(check)
  return function(changes, job, expires, over)
    local n = tonumber(expires)
    if need('value/number')(job.expires) ~= n then
      changes[#changes + 1] = {'hash', job.key, 'expires', job.expires, expires}
    end
    if not job.worker or job.worker == '' or job.grace and not over then return end
    local key = Keys.worker .. job.worker .. Keys.held
    local score, wrong = check.ask('zscore', key, job.id)
    if wrong or score and math.abs(tonumber(score) - n) <= check.rounding then return end
    -- An unknown worker may be dead: do not add a new entry for it.
    if score or check.ask('zscore', Keys.workers, job.worker) then
      changes[#changes + 1] = {'zset', key, job.id, score, expires}
    end
  end
end
