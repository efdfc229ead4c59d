-- Returns a failed job to its lane. A merge job gives its payloads to the last job there, if that one can take them.
-- Takes: now; jid; lane; the queue into which it goes
-- Returns: `waiting`, `depends`, or `merged` if the job is gone
-- Publishes: as merge/vanish
return function(now, jid, lane, queue)
  local call, key = redis.call, Keys.job .. jid
  local merge = call('hget', key, 'dup') == 'merge'
  if merge and need('merge/into_last')(now, jid, lane, queue) then return 'merged' end
  need('lane/rejoin')(now, lane, jid)
  if merge then call('hset', key, 'data', need('merge/compose')(jid)) end
  return call('exists', key .. Keys.dependencies) == 1 and 'depends' or 'waiting'
end
