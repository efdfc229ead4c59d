-- Moves the failed jobs of a group with the given jids into a queue, in the order given. Ignores jids of other jobs.
-- Takes: queue group jid ...
-- Result: how many jobs were moved
-- Refuses: missing words, more than 10000 jids
-- Publishes: as unfail
return function(argv, now, t, seconds)
  if argv[10005] then error('Unfail(): more than 10000 jids') end
  local jids = need('value/args_from')(argv, 5)
  return need('unfail', true)({argv[1], argv[2], argv[3], argv[4], '10000'}, now, t, seconds, jids)
end
