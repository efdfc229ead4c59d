-- Whether any of the jobs has dependencies or dependents. Uses one command for up to 2000 jobs.
-- Takes: jids; first and last index
return function(jids, first, last)
  local keys, n = {}, 0
  for i = first, last do
    local key = Keys.job .. jids[i]
    keys[n + 1], keys[n + 2] = key .. Keys.dependents, key .. Keys.dependencies
    n = n + 2
    if n == 4000 or i == last then
      if redis.call('exists', unpack(keys, 1, n)) > 0 then return true end
      n = 0
    end
  end
  return false
end
