-- Reads the fields of a job about its lane, payloads and back-off. A job with any of them also has the field
-- `throttles`: `[ ]`, with a blank, if no throttles were given. So a job without that field need not be read here.
-- Takes: jid
-- Result: the fields
local Ext = Fields('key', 'dup', 'hold', 'rescore', 'backoff', 'fence')

return function(jid)
  return redis.call('hmget', Keys.job .. jid, unpack(Ext))
end
