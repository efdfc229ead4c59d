-- Returns a function that judges the counter of the day on which a job failed, if it is missing: then
-- other cores can't cancel the job.
return function(c)
  return function(j, when)
    local key = Keys.stats .. string.format('%.0f', when - when % 86400) .. ':' .. j.queue
    local count, wrong = c.ask('hget', key, 'failed')
    if wrong then return c.wrong_type(key, 'hash') end
    if not count or (tonumber(count) or 0) <= 0 then
      c.room('check_failed_count')(key, string.format('%.0f', when - when % 86400), j.queue)
    end
  end
end
