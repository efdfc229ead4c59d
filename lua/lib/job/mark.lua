-- Returns the mark of a job, which tells whether it is still as it was seen:
-- `<state>:<when of its newest history entry, or ->:<length of its history>:<queue>`;
-- and that `when`, nil if there is none.
return function(jid, state, queue)
  local key = Keys.job .. jid .. Keys.history
  local length = redis.pcall('llen', key)
  if type(length) ~= 'number' then length = 0 end
  local entry = length > 0 and redis.call('lrange', key, -1, -1)[1]
  local when = entry and (string.match(entry, '^%[(%-?%d+),"') or need('history/entry_time')(entry)) or nil
  return (state or '') .. ':' .. (when or '-') .. ':' .. length .. ':' .. (queue or ''), when
end
