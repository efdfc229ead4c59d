-- Removes a job that stops being failed from its failure list, and from the counter of the queue in which it
-- failed. If the failure names no list, or the wrong one, all lists are searched.
-- Takes: jid; stored failure; queue
return function(jid, text, queue)
  local call = redis.call
  local failure = need('failure/decode')(text)
  local group = failure.group
  if type(group) == 'string' and call('lrem', Keys.group .. group, 1, jid) > 0 then
    if call('exists', Keys.group .. group) == 0 then call('srem', Keys.failures, group) end
  else
    local groups = call('smembers', Keys.failures)
    for i = 1, #groups do
      if call('lrem', Keys.group .. groups[i], 0, jid) > 0 and call('exists', Keys.group .. groups[i]) == 0 then
        call('srem', Keys.failures, groups[i])
      end
    end
  end
  need('failure/uncount')(failure.when, queue, 1)
end
