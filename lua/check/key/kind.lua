-- The type that a key must have by its name, and the job, queue or other owner of the key.
-- Takes: name without the prefix
-- Result: type, family (its letter), owner, part, day; nil if the name is unknown
return function(key)
  if key == 'queues' or key == 'workers' or key == 'completed' or key == 'tracked' or key == 'tags'
    or key == 'throttles' or key == 'failed-jobs-list' then
    return 'zset'
  elseif key == 'paused_queues' or key == 'failures' then
    return 'set'
  elseif key == 'config' or key == 'pauses' or key == 'paused_recurring' or key == 'qp:identifiers'
    or key == 'subscriptions' or string.find(key, '^topics') then
    return 'hash'
  elseif key == 'fence' then
    return 'string'
  elseif key == 'qp:priorities' or key == 'releasing' then
    return 'list'
  end
  local family, name = string.match(key, '^(%l+):(.*)$')
  if family == 'j' then
    local owner, part = string.match(name, '^(.*)%-([^%-]*)$')
    if part == 'history' then return 'list', family, owner, part end
    if part == 'dependencies' or part == 'dependents' then return 'set', family, owner, part end
    if part == 'payloads' then return 'zset', family, owner, part end
    return 'hash', family, name
  elseif family == 'r' then
    return 'hash', family, name
  elseif family == 'q' then
    local queue, part = string.match(name, '^(.*)%-([^%-]*)$')
    if part == 'work' or part == 'locks' or part == 'scheduled' or part == 'depends' or part == 'recur'
      or part == 'throttled' or part == 'completed' then
      return 'zset', family, queue, part
    end
  elseif family == 'w' then
    local worker = string.match(name, '^(.*):jobs$')
    if worker then return 'zset', family, worker end
  elseif family == 'th' then
    -- The name is that of a throttle's set. But if the key is a hash, it is a throttle whose id ends like the name
    -- of a set.
    local id, part = string.match(name, '^(.*)%-([^%-]*)$')
    if part == 'locks' or part == 'pending' then return 'zset', family, id, part end
    return 'hash', family, name
  elseif family == 'k' then
    return 'zset', family, name
  elseif family == 'u' then
    return 'string', family, name
  elseif family == 'f' then
    return 'list', family, name
  elseif family == 't' then
    return 'zset', family, name
  elseif family == 's' then
    local part, day, queue = string.match(name, '^(%l+):(%-?%d+):(.*)$')
    if part == 'wait' or part == 'run' or part == 'stats' then return 'hash', family, queue, part, day end
  end
end
