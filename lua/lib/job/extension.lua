-- Reads what a job has of lane, payloads and back-off. A job that has any of it has the field `throttles` as well, so
-- that the others need not be read: `[ ]`, with a blank, if no throttles were given.
-- Takes: jid
-- Result: the fields
local Ext = Fields('key', 'dup', 'hold', 'rescore', 'backoff', 'fence')

return function(jid)
  return redis.call('hmget', Keys.job .. jid, unpack(Ext))
end
