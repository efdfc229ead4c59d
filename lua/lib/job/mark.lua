-- The mark of a job, by which a client sees whether the job has changed since it was read:
-- `<state>:<time of its newest history entry, or ->:<length of its history>:<queue>`.
-- Takes: jid state queue
-- Result: the mark; the time of the newest entry, nil if there is none; the entry
return function(jid, state, queue)
  local key = Keys.job .. jid .. Keys.history
  local length = redis.pcall('llen', key)
  if type(length) ~= 'number' then length = 0 end
  local entry = length > 0 and redis.call('lrange', key, -1, -1)[1]
  local when = entry and (string.match(entry, '^%[(%-?%d+),"') or need('history/entry_time')(entry)) or nil
  return (state or '') .. ':' .. (when or '-') .. ':' .. length .. ':' .. (queue or ''), when, entry
end
