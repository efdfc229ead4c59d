-- Returns held jobs of a throttle to work, as throttle.set does. Clients call it if a throttle has more held jobs
-- than one call returns.
-- Takes: id most: how many jobs at most
-- Result: how many it returned; how many still wait; the free slots, -1 if it has no limit
-- Refuses: missing or wrong words
return function(argv)
  local id, max_jobs = argv[3], need('value/whole')(argv[4], 0)
  if not id then error('Throttle(): Arg "id" missing') end
  if not max_jobs then error('Throttle(): Arg "most" not a positive number: ' .. tostring(argv[4])) end
  local key, woken = Keys.throttle .. id, need('throttle/wake')(id, max_jobs)
  -- A key of another type counts as an empty set.
  local function size(part) return tonumber(redis.pcall('zcard', key .. part)) or 0 end
  local maximum = need('throttle/maximum')(id)
  return {woken, size(Keys.pending), maximum == 0 and -1 or math.max(0, maximum - size(Keys.locks))}
end, true
