-- cancel: jid ...
-- Deletes jobs; complete ones are left alone. Refuses all if one that stays depends on one of
-- them. Answers the given jids. Events per job: `canceled` to the log and to the holder; the jid
-- if tracked.
return function(argv)
  local call = redis.call
  local jids, named = {}, {}
  for i = 3, #argv do
    jids[i - 2] = argv[i]
    named[argv[i]] = true
  end
  local count = #jids
  local related = need('job').related(jids, 1, count)
  if related then
    for i = 1, count do
      local jid = jids[i]
      local dependents = call('smembers', Keys.job .. jid .. Keys.dependents)
      table.sort(dependents)
      for k = 1, #dependents do
        local name = dependents[k]
        local key = Keys.job .. name
        if not named[name] and call('exists', key) == 1 and call('sismember', key .. Keys.dependencies, jid) == 1 then
          error('Cancel(): ' .. jid .. ' is a dependency of ' .. name .. ' but is not mentioned to be canceled')
        end
      end
    end
  end
  need('cancel')(jids, related)
  return jids
end
