-- Takes a job that stops being failed off its list and out of the counter of the queue in which
-- it failed. A failure that names no list, or the wrong one, makes every list be asked. Up to 1000
-- entries are searched to the end for further ones that an older script left; a longer list would
-- cost too much.
return function(jid, text, queue)
  local call = redis.call
  local failure = need('failure')(text)
  local group = failure.group
  local list = type(group) == 'string' and Keys.group .. group
  local length = list and call('llen', list) or 0
  local gone = length > 0 and call('lrem', list, length > 1000 and 1 or 0, jid) or 0
  if gone > 0 then
    if gone == length then call('srem', Keys.failures, group) end
  else
    local groups = call('smembers', Keys.failures)
    for i = 1, #groups do
      if call('lrem', Keys.group .. groups[i], 0, jid) > 0 and call('exists', Keys.group .. groups[i]) == 0 then
        call('srem', Keys.failures, groups[i])
      end
    end
  end
  need('uncount_failed')(failure.when, queue, 1)
end
