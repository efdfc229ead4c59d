-- Checks what a job has to do with lanes, throttles and merging.
-- Takes: job
return function(c)
  return function(j)
    if j.lane then c.need('judge/lane')(j) end
    if j.throttles or j.state == 'throttled' then c.need('judge/slots')(j) end
    if j.dup == 'merge' and j.state ~= 'complete' then c.need('judge/payloads')(j) end
  end
end
