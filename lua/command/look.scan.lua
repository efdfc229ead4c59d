-- Makes one step of SCAN over the keys of jobs (companion keys left out), of templates, or over all keys of the prefix.
-- Takes: jobs|recurring|keys cursor count
-- Result: next cursor, then jids or key names without the prefix; a name may come twice
-- Refuses: another first word, a cursor that is not a number, a count that is not a whole number from 1 to 10000
return function(argv)
  local kind, cursor, count = argv[3], argv[4], need('value/whole')(argv[5], 1, 10000)
  if not cursor or not string.find(cursor, '^%d+$') or #cursor > 19 then error('Look(): cursor must be a number') end
  if not count then error('Look(): count must be a whole number from 1 to 10000') end
  local prefix, step
  if kind == 'jobs' then
    prefix = Keys.job
  elseif kind == 'recurring' then
    prefix = Keys.recurring
  elseif kind == 'keys' then
    prefix = Keys.prefix
  else
    error('Look(): "jobs", "recurring" or "keys" missing')
  end
  if kind == 'keys' then
    step = redis.call('scan', cursor, 'MATCH', prefix .. '*', 'COUNT', count)
  else
    step = redis.call('scan', cursor, 'MATCH', prefix .. '*', 'COUNT', count, 'TYPE', 'hash')
  end
  local reply = {step[1]}
  for i = 1, #step[2] do reply[i + 1] = string.sub(step[2][i], #prefix + 1) end
  return reply
end
