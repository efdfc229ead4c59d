-- Deletes a template. Its jobs remain.
-- Takes: jid
-- Result: 1
-- Refuses: a missing jid
return function(argv)
  local call, jid = redis.call, argv[3]
  if not jid then error('Recurring(): no jid provided') end
  local queue = call('hget', Keys.recurring .. jid, 'queue')
  if queue then call('zrem', Keys.queue .. queue .. Keys.recur, jid) end
  call('del', Keys.recurring .. jid)
  return 1
end, true
