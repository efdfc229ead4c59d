-- Checks the fields of a job about its lane, its throttles and merging.
-- Takes: job
return function(check)
  return function(job)
    -- This core ignores the lane and the options of a job without the field `throttles`: add an empty one.
    if job.lane and not job.throttles and job.state ~= 'complete' then
      check.add('lane-unmarked', job.id, 'lane ' .. job.lane, {{'hash', job.key, 'throttles', false, '[ ]'}})
    end
    local findings = #check.pending
    if job.lane then check.need('judge/lane')(job) end
    -- If `judge/lane` makes a held job wait for another job of its lane, no throttle holds the job any more.
    local blocked = job.blocked and #check.pending > findings
    if (job.throttles or job.state == 'throttled') and not blocked then check.need('judge/slots')(job) end
    if job.dup == 'merge' and job.state ~= 'complete' then check.need('judge/payloads')(job) end
  end
end
