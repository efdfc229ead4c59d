-- Checks that the counter of failed jobs of a day exists. Without it, other cores cannot cancel the job.
-- Takes: job; when it failed
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
