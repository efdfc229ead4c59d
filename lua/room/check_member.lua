-- Returns a function that judges a member of a set of a queue: has it a job, and does that belong here?
return function(c, queue, kind)
  local key = Keys.queue .. queue .. '-' .. kind
  local ghost = 'ghost-' .. (kind == 'work' and 'waiting' or kind == 'locks' and 'lock' or kind)
  return function(jid)
    local score, wrong = c.ask('zscore', key, jid)
    if wrong then return c.wrong_type(key, 'zset') end
    if not score then return end
    if redis.call('exists', Keys.job .. jid) == 0 then
      return c.add(ghost, jid, queue, {{'zset', key, jid, score, false}})
    end
    local what, j = c.read(jid)
    if what == 'type' then
      c.wrong_type(Keys.job .. jid, 'hash')
    elseif what == 'stub' then
      c.room('check_stub')(j, what, queue)
    elseif what == 'job' then
      c.room('check_places')(j, queue)
      if j.queue == queue then c.room('check_listed')(queue) end
    end
  end
end
