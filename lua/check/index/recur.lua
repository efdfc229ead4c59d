-- Checks an entry of the schedule of templates of a queue.
-- Takes: jid of the template
return function(c, queue)
  local key = Keys.queue .. queue .. Keys.recur
  return function(id)
    local score, wrong = c.ask('zscore', key, id)
    if wrong then return c.wrong_type(key, 'zset') end
    if not score then return end
    if redis.call('exists', Keys.recurring .. id) == 0 then
      c.add('ghost-recurring', id, queue, {{'zset', key, id, score, false}})
    else
      c.need('judge/recurring')(id, queue)
    end
  end
end
