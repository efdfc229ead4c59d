-- Removes a job that stops being failed from its failure list, and from the counter of the queue in which it
-- failed. If the failure names no list, or the wrong one, all lists are searched. A list of up to 1000 entries
-- loses all entries of the job, because an older script may have left several. A longer list loses only the newest
-- one, because the search for others would cost too much.
-- Takes: jid; stored failure; queue
return function(jid, text, queue)
  local call = redis.call
  local failure = need('failure/decode')(text)
  if call('exists', Keys.failed_times) == 1 then need('failure/forget_times')({jid}) end
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
  need('failure/uncount')(failure.when, queue, 1)
end
