-- Returns how many seconds a job waits after it lost its lock, 0 if it may run again immediately: the initial delay
-- times the factor to the power of the used tries.
-- Takes: the stored back-off of the job, or false; stored retries; remaining tries; the stored settings
--   `backoff-initial-delay` and `backoff-factor`

return function(text, retries, left, initial_delay, factor)
  local number = need('value/number')
  local own = text and need('option/lost_lock')(text) or {}
  local first, base = own.initial_delay or number(initial_delay) or 0, own.factor or number(factor)
  if first <= 0 then return 0 end
  if not base or base < 0 then base = 3 end
  return math.min(first * base ^ (math.floor(number(retries) or 5) - left), need('value/longest_delay')())
end
