-- The set of the given jobs that are tracked; false, after one command, if no job at all is tracked.
-- Takes: jids; their number
return function(jids, count)
  if redis.call('exists', Keys.tracked) == 0 then return false end
  local set = {}
  for i = 1, count do
    if type(redis.pcall('zscore', Keys.tracked, jids[i])) == 'string' then set[jids[i]] = true end
  end
  return set
end
