-- The dependents of a job that list it as a dependency: the waiting ones, in state `depends`, and the failed ones,
-- such as a buried job that keeps its place in its lane.
-- Takes: jid; whether to leave out the job behind it in its lane; the maximum number of entries to read, or nil: for
--   a job with more entries, no jobs are returned; a set of jobs, or nil: with it, the search ends after a hundred
--   waiting jobs that are not in the set
-- Result: the waiting dependents; the failed dependents; how many entries there are
-- Refuses: raises a missing right
local members = need('value/members')

return function(jid, apart, limit, known)
  local list, found, failed, others = members(Keys.job .. jid .. Keys.dependents), {}, {}, 0
  if limit and #list > limit then return nil, nil, #list end
  for i = 1, #list do
    local key = Keys.job .. list[i]
    local above = key .. Keys.dependencies
    local state, edge = redis.pcall('hget', key, 'state'), redis.pcall('sismember', above, jid)
    if type(state) == 'table' then need('value/wrong_type')(state, false, 'hash', key, 'hget', key, 'state') end
    if type(edge) == 'table' then need('value/wrong_type')(edge, false, 'set', above, 'sismember', above, jid) end
    local into = state == 'depends' and found or state == 'failed' and failed
    if into and edge == 1 and not (apart and need('lane/precedes')(jid, list[i])) then
      into[#into + 1] = list[i]
      if known and state == 'depends' and not known[list[i]] then others = others + 1 end
      if others == 100 then break end
    end
  end
  return found, failed, #list
end
