-- Checks the fields of a job about lanes, throttles and merging.
-- Takes: job
return function(check)
  return function(job)
    -- Without the field `throttles`, this core ignores the lane and the other options: add an empty one.
    if job.lane and not job.throttles and job.state ~= 'complete' then
      check.add('lane-unmarked', job.id, 'lane ' .. job.lane, {{'hash', job.key, 'throttles', false, '[ ]'}})
    end
    local findings = #check.pending
    if job.lane then check.need('judge/lane')(job) end
    -- A held job that comes to wait for another one of its lane is no longer held by a throttle.
    local blocked = job.blocked and #check.pending > findings
    if (job.throttles or job.state == 'throttled') and not blocked then check.need('judge/slots')(job) end
    if job.dup == 'merge' and job.state ~= 'complete' then check.need('judge/payloads')(job) end
  end
end
