-- Appends an entry to the history of a job, and trims it to the setting `max-job-history`.
-- `limit`: the setting, if it is known; else it is read where it may matter.
return function(jid, entry, limit)
  local call = redis.call
  local key = Keys.job .. jid .. Keys.history
  local length = call('rpush', key, entry)
  if length > 1 then
    limit = limit or tonumber(redis.pcall('hget', Keys.config, 'max-job-history') or 100) or 100
    if length > limit then need('history/trim')(key, length, limit) end
  end
end
