-- Enters a job under a tag. The counter counts only real changes; a job that has the tag
-- already gets the newer time.
return function(t, jid, tag)
  if redis.call('zadd', Keys.tag .. tag, t, jid) == 1 then redis.call('zincrby', Keys.tags, 1, tag) end
end
