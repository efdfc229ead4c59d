-- The score in the work set of a job that has waited since a time: its priority minus the time in units of 10^10
-- seconds. The order value of a held job is the negative score. queue/place computes the score itself.
-- Takes: the time; the stored priority: it counts as 0 if it is missing or no finite number
return function(time, stored)
  local priority = tonumber(stored) or 0
  if priority - priority ~= 0 then priority = 0 end
  return priority - time / 10000000000
end
