-- The delay in seconds that a back-off policy gives to a retry, 0 if the text is no policy. The random part is a hash
-- of job and time, so that a repeated call gives an equal delay.
-- Takes: policy, or false; jid; stored retries; remaining tries after this retry; now

return function(policy, jid, retries, remaining, now)
  if not policy then return 0 end
  local kind, numbers = need('option/backoff')(policy)
  if not kind then return 0 end
  local longest = need('value/longest_delay')()
  retries = math.floor(need('value/number')(retries) or 5)
  local n = math.max(0, retries - remaining - 1)
  local function random_fraction()
    local digest = redis.sha1hex(jid .. ':' .. n .. ':' .. string.format('%.17g', now))
    return tonumber(string.sub(digest, 1, 8), 16) / 4294967296
  end
  local first, delay = numbers[1], nil
  if kind == 'fixed' then
    delay = first
  elseif kind == 'linear' then
    delay = first * (n + 1)
  elseif kind == 'exp' then
    delay = math.min(first * (numbers[2] or 2) ^ n, numbers[3] or longest)
    if numbers[4] then delay = delay * (1 + (2 * random_fraction() - 1) * numbers[4]) end
  else
    -- The formula of Lowkiq and Sidekiq: n^4 + 15 + r * (n + 1), with a random whole number r from 0 to 29.
    delay = math.min(n ^ 4 + 15 + math.floor(random_fraction() * 30) * (n + 1), first or longest)
  end
  return math.min(delay, longest)
end
