-- Moves the history of a job from the field `history`, where old versions stored it, into its list. A field that does
-- not parse stays as it is. If a call has read the job several times, only the first move has an effect.
-- Takes: jid; the field
return function(jid, text)
  local entries = need('history/legacy')(text)
  if not entries then return end
  local key = Keys.job .. jid
  if redis.call('hget', key, 'history') ~= text then return end
  for i = 1, #entries do redis.call('rpush', key .. Keys.history, entries[i]) end
  redis.call('hdel', key, 'history')
end
