-- Checks an entry of the set of completed jobs of a queue: its job must exist and be complete.
-- Takes: jid
return function(check, queue)
  local key = Keys.queue .. queue .. Keys.completed_in
  return function(jid)
    local score, wrong = check.ask('zscore', key, jid)
    if wrong then return check.wrong_type(key, 'zset') end
    if not score then return end
    local what, job = check.read(jid, true)
    if what == 'type' then return check.wrong_type(Keys.job .. jid, 'hash') end
    if what == 'gone' or what == 'stub' or job.state and job.state ~= 'complete' then
      check.add('completed-in-queue', jid, queue, {{'zset', key, jid, score, false}})
    end
  end
end
