-- Adds the payload of a put to a merge job, or makes the job one.
-- Takes: jid; payload; the options of the put: score, rescore, and to restore a job, payloads; whether it becomes one
-- Result: the data of the job
return function(jid, payload, given, fresh)
  local set = Keys.job .. jid .. Keys.payloads
  if fresh then redis.call('del', set) end
  if given.payloads then
    for i = 1, #given.payloads do redis.call('zadd', set, given.payloads[i][2], given.payloads[i][1]) end
  else
    need('merge/add')(jid, payload, given.score, given.rescore, math.huge)
  end
  return need('merge/compose')(jid)
end
