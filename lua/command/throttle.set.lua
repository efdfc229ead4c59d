-- Sets how many jobs may run at once under a throttle. Held jobs that may run now return to work.
-- Takes: id maximum [seconds [by]]: 0 is no limit, below 0 no job runs; after `seconds`, if not 0, the throttle is
--   as if never set; `by` is the operator, kept with the time for `throttle show`
-- Refuses: missing or wrong words
return function(argv, now, t)
  local call, id, maximum, ttl = redis.call, argv[3], argv[4], argv[5]
  local number = need('value/number')
  if not id then error('Throttle(): Arg "id" missing') end
  if need('throttle/reserved')(id) then error('Throttle(): Arg "id" ends in -locks or -pending: ' .. id) end
  maximum = number(maximum)
  if not maximum or maximum % 1 ~= 0 then
    error('Throttle(): Arg "maximum" not an integer: ' .. tostring(argv[4]))
  end
  if ttl then
    ttl = number(ttl)
    if not ttl or ttl < 0 or ttl > 1e11 then
      error('Throttle(): Arg "seconds" not a positive number: ' .. argv[5])
    end
  end
  need('throttle/set')(now, id, maximum, argv[6])
  local key = Keys.throttle .. id
  if ttl and ttl > 0 then
    call('pexpire', key, string.format('%.0f', math.ceil(ttl * 1000)))
    need('throttle/drop_expired')(t, id)
  else
    call('persist', key)
  end
  need('throttle/wake')(id)
end
