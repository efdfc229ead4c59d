-- Checks what a job has to do with lanes, throttles and merging.
-- Takes: job
return function(c)
  return function(j)
    -- This core reads the other options only if the field `throttles` exists.
    if j.lane and not j.throttles and j.state ~= 'complete' then
      c.add('lane-unmarked', j.id, 'lane ' .. j.lane, {{'hash', j.key, 'throttles', false, '[ ]'}})
    end
    if j.lane then c.need('judge/lane')(j) end
    if j.throttles or j.state == 'throttled' then c.need('judge/slots')(j) end
    if j.dup == 'merge' and j.state ~= 'complete' then c.need('judge/payloads')(j) end
  end
end
