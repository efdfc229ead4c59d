-- Deletes the maximum of a throttle. Jobs that hold its slots keep them. Held jobs that may run now return to the
-- waiting jobs.
-- Takes: id
-- Refuses: a missing id
return function(argv)
  local id = argv[3]
  if not id then error('Throttle(): Arg "id" missing') end
  if need('throttle/reserved')(id) then error('Throttle(): Arg "id" ends in -locks or -pending: ' .. id) end
  redis.call('del', Keys.throttle .. id)
  -- If the key of the list has another type, there is no entry to remove: ignore the error.
  redis.pcall('zrem', Keys.throttles, id)
  need('throttle/wake')(id)
end, true
