-- Adds a job to the indexes of its tags, and counts it for those that did not have it.
-- Takes: t; jid; tags
return function(t, jid, tags)
  local call = redis.call
  for i = 1, #tags do
    if call('zadd', Keys.tag .. tags[i], t, jid) == 1 then call('zincrby', Keys.tags, 1, tags[i]) end
  end
end
