-- Deletes jobs. Completed jobs are left alone.
-- Takes: jid ...
-- Result: the given jids
-- Refuses: all, if a job that is not given depends on one of them; more than 10000 jids; several jids with more
--   than 50000 tags and dependencies
-- Publishes: `canceled` to the log and to the holder, for each job; the jid to `canceled` if tracked
return function(argv, now)
  local call = redis.call
  if argv[10003] then error('Cancel(): more than 10000 jids') end
  local jids, count = {}, #argv - 2
  for i = 1, count do jids[i] = argv[i + 2] end
  local related, tracked
  if count == 1 then
    local key = Keys.job .. jids[1]
    related = call('exists', key .. Keys.dependents, key .. Keys.dependencies, Keys.tracked) > 0
    tracked = related
  else
    related = need('dependency/any_related')(jids, 1, count)
    tracked = call('exists', Keys.tracked) == 1
  end
  if related then
    local named = {}
    for i = 1, count do named[jids[i]] = true end
    for i = 1, count do
      local jid = jids[i]
      local dependents = call('smembers', Keys.job .. jid .. Keys.dependents)
      table.sort(dependents)
      for k = 1, #dependents do
        local name = dependents[k]
        local key = Keys.job .. name
        if not named[name] and call('exists', key) == 1 and call('sismember', key .. Keys.dependencies, jid) == 1
          and not need('lane/precedes')(jid, name) then
          error('Cancel(): ' .. jid .. ' is a dependency of ' .. name .. ' but is not mentioned to be canceled')
        end
      end
    end
  end
  need('job/delete')(now, jids, related, tracked, nil, 50000)
  return jids
end
