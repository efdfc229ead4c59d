-- Goes on with the release of dependents that one completion had too many of: up to 5000. A dependent that cannot be
-- released must not stop the others, nor the pop.
-- Takes: now
return function(now)
  local rest = redis.pcall('lrange', Keys.releasing, 0, 9999)
  if not rest[1] then return end
  local release = need('dependency/release_dependent')
  for i = 1, #rest, 2 do pcall(release, now, rest[i], rest[i + 1]) end
  redis.call('ltrim', Keys.releasing, #rest, -1)
end
