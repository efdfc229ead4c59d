-- Adds the payload of a put to a merge job, or makes another job a merge job.
-- Takes: jid; payload; the options of the put: score, rescore, and payloads to restore; whether the job becomes a
--   merge job
-- Result: the new data of the job
return function(jid, payload, given, fresh)
  local set = Keys.job .. jid .. Keys.payloads
  if fresh or given.payloads then redis.call('del', set) end
  if given.payloads then
    for i = 1, #given.payloads do redis.call('zadd', set, given.payloads[i][2], given.payloads[i][1]) end
  else
    need('merge/add')(jid, payload, given.score, given.rescore, math.huge)
  end
  return need('merge/compose')(jid)
end
