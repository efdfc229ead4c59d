-- Returns a function that adds what gives a running job another expiry: its field, and the list of
-- its worker where that has the job.
return function(c)
  return function(changes, j, expires)
    if j.expires ~= expires then changes[#changes + 1] = {'hash', j.key, 'expires', j.expires, expires} end
    if j.worker and j.worker ~= '' then
      local key = Keys.worker .. j.worker .. Keys.held
      local score = c.ask('zscore', key, j.id)
      if score and tonumber(score) ~= tonumber(expires) then
        changes[#changes + 1] = {'zset', key, j.id, score, expires}
      end
    end
  end
end
