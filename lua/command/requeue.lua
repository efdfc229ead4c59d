-- Puts a job, as put does, but only if it exists already.
-- Takes: the words of put
-- Result: the jid
-- Refuses: a missing job, and what put refuses
return function(argv, now, t, seconds)
  local jid = argv[5]
  if not jid then error('Job(): no jid provided') end
  if redis.call('exists', Keys.job .. jid) == 0 then error('Requeue(): Job ' .. jid .. ' does not exist') end
  return need('put', true)(argv, now, t, seconds)
end
