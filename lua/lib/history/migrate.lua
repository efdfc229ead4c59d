-- Moves the field `history` of a job, which versions before the list wrote, into the list. A field that
-- does not parse stays as it is. A call may have read the same job several times; only the first move counts.
-- Takes: jid; the field
return function(jid, text)
  local entries = need('history/legacy')(text)
  if not entries then return end
  local key = Keys.job .. jid
  if redis.call('hget', key, 'history') ~= text then return end
  for i = 1, #entries do redis.call('rpush', key .. Keys.history, entries[i]) end
  redis.call('hdel', key, 'history')
end
