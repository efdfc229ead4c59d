-- Adds a job to the index of each of its tags. Adds 1 to the counter of each tag whose index did not have the job.
-- Takes: t; jid; tags
return function(t, jid, tags)
  local call = redis.call
  for i = 1, #tags do
    if call('zadd', Keys.tag .. tags[i], t, jid) == 1 then call('zincrby', Keys.tags, 1, tags[i]) end
  end
end
