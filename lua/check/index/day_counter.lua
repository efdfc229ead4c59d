-- Checks that a day's counter of failed jobs is above 0 for a failed job. Otherwise other cores cannot cancel the job.
-- Takes: job; when it failed
return function(check)
  return function(job, when)
    local day = '' .. when - when % 86400
    local key = Keys.stats .. day .. ':' .. job.queue
    local count, wrong = check.ask('hget', key, 'failed')
    if wrong then return check.wrong_type(key, 'hash') end
    if not count or (tonumber(count) or 0) <= 0 then
      check.need('index/failed_count')(key, day, job.queue)
    end
  end
end
