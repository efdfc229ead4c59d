-- Returns a function that adds what makes field and worker's list of a running job agree with its
-- lock: the finding that mends the one takes the others along. `over`: its grace ends with this.
return function(c)
  return function(changes, j, expires, over)
    local n = tonumber(expires)
    if need('value/number')(j.expires) ~= n then changes[#changes + 1] = {'hash', j.key, 'expires', j.expires, expires} end
    if not j.worker or j.worker == '' or j.grace and not over then return end
    local key = Keys.worker .. j.worker .. Keys.held
    local score, wrong = c.ask('zscore', key, j.id)
    if wrong or score and math.abs(tonumber(score) - n) <= 0.001 then return end
    -- A worker that nobody knows may be dead.
    if score or c.ask('zscore', Keys.workers, j.worker) then
      changes[#changes + 1] = {'zset', key, j.id, score, expires}
    end
  end
end
