-- Returns a function that judges the counter of the day on which a job failed, if it is missing: then
-- other cores can't cancel the job.
return function(c)
  return function(j, when)
    local day = '' .. when - when % 86400
    local key = Keys.stats .. day .. ':' .. j.queue
    local count, wrong = c.ask('hget', key, 'failed')
    if wrong then return c.wrong_type(key, 'hash') end
    if not count or (tonumber(count) or 0) <= 0 then
      c.need('index/failed_count')(key, day, j.queue)
    end
  end
end
