-- Adds a job at the end of a lane.
-- Takes: lane; jid; the score of the last job in the lane, 0 if there is none
return function(lane, jid, place)
  local key = Keys.lane .. lane
  if place + 1 > place then return redis.call('zadd', key, place + 1, jid) end
  -- The last score is so large that adding 1 does not change it, which only a manual change can cause. Number all
  -- entries again.
  local entries, places = redis.call('zrange', key, 0, -1), {}
  entries[#entries + 1] = jid
  for i = 1, #entries do places[2 * i - 1], places[2 * i] = i, entries[i] end
  need('value/in_chunks')('zadd', key, places, 1, #places)
end
