-- Checks an entry of the complete jobs of a queue.
-- Takes: jid
return function(c, queue)
  local key = Keys.queue .. queue .. Keys.completed_in
  return function(jid)
    local score, wrong = c.ask('zscore', key, jid)
    if wrong then return c.wrong_type(key, 'zset') end
    if not score then return end
    local what, j = c.read(jid, true)
    if what == 'type' then return c.wrong_type(Keys.job .. jid, 'hash') end
    if what == 'gone' or what == 'stub' or j.state and j.state ~= 'complete' then
      c.add('completed-in-queue', jid, queue, {{'zset', key, jid, score, false}})
    end
  end
end
