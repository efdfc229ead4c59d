-- Appends an entry to the history of a job, and trims the history to the setting `max-job-history`.
-- Takes: jid; entry; the setting, if the caller has read it
return function(jid, entry, limit)
  local call = redis.call
  local key = Keys.job .. jid .. Keys.history
  local length = call('rpush', key, entry)
  if length > 1 then
    limit = limit or need('history/limit')()
    if length > limit then need('history/trim')(key, length, limit) end
  end
end
