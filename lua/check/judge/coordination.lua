-- Checks what a job has to do with lanes, throttles and merging.
-- Takes: job
return function(c)
  return function(j)
    -- The cores read the other options only where this field is.
    if j.lane and not j.throttles and j.state ~= 'complete' then
      c.add('lane-unmarked', j.id, 'lane ' .. j.lane, {{'hash', j.key, 'throttles', false, '[ ]'}})
    end
    if j.lane then c.need('judge/lane')(j) end
    if j.throttles or j.state == 'throttled' then c.need('judge/slots')(j) end
    if j.dup == 'merge' and j.state ~= 'complete' then c.need('judge/payloads')(j) end
  end
end
