-- The jids that a worker holds as a JSON array, in the order in which their locks expire; `{}` if there are
-- none, `null` without a worker.
-- Takes: worker [from]: only locks that expire at this time or later
-- Refuses: a time that is not a number
return function(argv)
  local worker, from = argv[3], argv[4]
  if not worker then return 'null' end
  local first = need('value/number')(from)
  if from and from ~= '' and not first then error('WorkerJobs(): Arg "from" not a number: ' .. from) end
  first = first and string.format('%.17g', first) or '-inf'
  return cjson.encode(redis.call('zrangebyscore', Keys.worker .. worker .. Keys.held, first, '+inf'))
end, true
