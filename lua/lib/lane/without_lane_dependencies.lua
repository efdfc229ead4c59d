-- Removes the dependencies of a restored job that its lane replaces: the job before it in the lane, and jobs that have
-- left the lane, because they ended or failed. A dependency on another job of the lane stays.
-- Takes: lane; jids; whether the job exists, so that it has a place in the lane
-- Result: the jids that stay
return function(lane, jids, exists)
  local key, stay = Keys.lane .. lane, {}
  local last = redis.pcall('zrange', key, -1, -1)[1]
  for i = 1, #jids do
    local jid = jids[i]
    local is_of_lane = redis.pcall('hget', Keys.job .. jid, 'key') == lane
    if not is_of_lane or not exists and jid ~= last and redis.pcall('zscore', key, jid) then stay[#stay + 1] = jid end
  end
  return stay
end
