-- Removes a completed job from the dependencies of its dependents, and releases each dependent without a further
-- dependency. This call handles 10000 dependents, the next pops handle the rest. Only a job in state `depends` that
-- named the completed job is released: a leftover entry must not run a job twice.
-- Takes: now; jid; jids of the dependents
return function(now, jid, dependents)
  local release = need('dependency/release_dependent')
  for i = 1, math.min(#dependents, 10000) do release(now, jid, dependents[i]) end
  if dependents[10001] then
    local rest = {}
    for i = 10001, #dependents do rest[#rest + 1], rest[#rest + 2] = jid, dependents[i] end
    need('value/in_chunks')('rpush', Keys.releasing, rest, 1, #rest)
  end
  redis.call('del', Keys.job .. jid .. Keys.dependents)
end
