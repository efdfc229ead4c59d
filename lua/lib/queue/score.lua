-- The score of a job that waits since a time: its priority less the time in units of 10^10 seconds. The order value of
-- a held job is the negative of it. queue/place computes the same itself.
-- Takes: the time; the stored priority: it counts as 0 if it is missing or no finite number
return function(time, stored)
  local priority = tonumber(stored) or 0
  if priority - priority ~= 0 then priority = 0 end
  return priority - time / 10000000000
end
