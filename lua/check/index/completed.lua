-- Checks a member of the list of complete jobs.
-- Takes: jid
return function(c)
  return function(jid)
    local score, wrong = c.ask('zscore', Keys.completed, jid)
    if wrong then return c.wrong_type(Keys.completed, 'zset') end
    if not score then return end
    local what, j = c.read(jid, true)
    if what == 'type' then
      c.wrong_type(Keys.job .. jid, 'hash')
    elseif what == 'gone' then
      c.add('completed-stray', jid, 'gone', {{'zset', Keys.completed, jid, score, false}})
    elseif what == 'stub' then
      c.need('judge/stub')(select(2, c.read(jid)), what)
    elseif what == 'job' then
      c.need('judge/complete')(j)
    end
    if what ~= 'gone' and tonumber(score) > c.now + 3600 then c.add('clock', jid, 'completed at ' .. score) end
  end
end
