-- The lane in which one job stands directly before another, nil if there is none. The dependency of the second job on
-- the first belongs to the lane: no client can remove it, and a cancel of the first job links the second to another.
-- Takes: jid; the jid that may stand behind it
return function(jid, behind)
  local lane = redis.pcall('hget', Keys.job .. jid, 'key')
  if type(lane) ~= 'string' or redis.pcall('hget', Keys.job .. behind, 'key') ~= lane then return nil end
  local key = Keys.lane .. lane
  local rank = redis.call('zrank', key, behind)
  if not rank or rank == 0 then return nil end
  return redis.call('zrange', key, rank - 1, rank - 1)[1] == jid and lane or nil
end
