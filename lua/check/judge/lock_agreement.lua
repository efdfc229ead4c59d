-- Adds the changes that make the field `expires` and the worker's list of a running job agree with its
-- lock, so that one finding repairs all three.
-- Takes: changes; job; when the lock expires, as text; whether this ends the grace period
return function(c)
  return function(changes, j, expires, over)
    local n = tonumber(expires)
    if need('value/number')(j.expires) ~= n then
      changes[#changes + 1] = {'hash', j.key, 'expires', j.expires, expires}
    end
    if not j.worker or j.worker == '' or j.grace and not over then return end
    local key = Keys.worker .. j.worker .. Keys.held
    local score, wrong = c.ask('zscore', key, j.id)
    if wrong or score and math.abs(tonumber(score) - n) <= 0.001 then return end
    -- An unknown worker may be dead: do not add a new entry for it.
    if score or c.ask('zscore', Keys.workers, j.worker) then
      changes[#changes + 1] = {'zset', key, j.id, score, expires}
    end
  end
end
