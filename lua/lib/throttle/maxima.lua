-- Checks the maxima of throttles in a call. They are set only if the call puts a job.
-- Takes: now; the maxima by id; the operator, or nil
-- Result: a function that sets the maxima that differ from the present ones, and returns held jobs that may run to work
-- Refuses: ids with a reserved ending, numbers that are not whole, a key of another type
return function(now, maxima, by)
  local differing = {}
  for id, maximum in pairs(maxima) do
    if type(id) ~= 'string' or need('throttle/reserved')(id) then
      error('Guard(): maxima has an id that ends in -locks or -pending')
    end
    if type(maximum) ~= 'number' or maximum % 1 ~= 0 then error('Guard(): maxima must be whole numbers') end
    local present = need('value/number')(redis.call('hget', Keys.throttle .. id, 'maximum'))
    if present ~= maximum then differing[#differing + 1] = id end
  end
  return function()
    for i = 1, #differing do
      need('throttle/set')(now, differing[i], maxima[differing[i]], by)
      need('throttle/wake')(differing[i])
    end
  end
end
