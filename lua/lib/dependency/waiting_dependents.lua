-- The dependents of a job that are in state `depends` and name it; and those that have failed and name it, as
-- a buried job does that keeps its place in its lane.
-- Takes: jid; whether to leave out the job behind it in its lane; the most entries to read, if there is a
--   limit: of a job with more, nothing is returned
-- Refuses: raises a missing right
local members = need('value/members')

return function(jid, apart, most)
  local list, found, failed = members(Keys.job .. jid .. Keys.dependents), {}, {}
  if most and #list > most then return end
  for i = 1, #list do
    local key = Keys.job .. list[i]
    local above = key .. Keys.dependencies
    local state, edge = redis.pcall('hget', key, 'state'), redis.pcall('sismember', above, jid)
    if type(state) == 'table' then need('value/wrong_type')(state, false, 'hash', key, 'hget', key, 'state') end
    if type(edge) == 'table' then need('value/wrong_type')(edge, false, 'set', above, 'sismember', above, jid) end
    local into = state == 'depends' and found or state == 'failed' and failed
    if into and edge == 1 and not (apart and need('lane/precedes')(jid, list[i])) then into[#into + 1] = list[i] end
  end
  return found, failed
end
