-- Checks an entry of the schedule of recurring jobs of a queue, and the recurring job (template) itself.
-- Takes: jid of the template
return function(check, queue)
  local key = Keys.queue .. queue .. Keys.recur
  return function(id)
    local score, wrong = check.ask('zscore', key, id)
    if wrong then return check.wrong_type(key, 'zset') end
    if not score then return end
    if redis.call('exists', Keys.recurring .. id) == 0 then
      check.add('ghost-recurring', id, queue, {{'zset', key, id, score, false}})
    else
      check.need('judge/recurring')(id, queue)
    end
  end
end
