-- Checks a member of the list of completed jobs.
-- Takes: jid
return function(check)
  return function(jid)
    local score, wrong = check.ask('zscore', Keys.completed, jid)
    if wrong then return check.wrong_type(Keys.completed, 'zset') end
    if not score then return end
    local what, job = check.read(jid, true)
    if what == 'type' then
      check.wrong_type(Keys.job .. jid, 'hash')
    elseif what == 'gone' then
      check.add('completed-stray', jid, 'gone', {{'zset', Keys.completed, jid, score, false}})
    elseif what == 'stub' then
      check.need('judge/stub')(select(2, check.read(jid)), what)
    elseif what == 'job' then
      check.need('judge/complete')(job)
    end
    if what ~= 'gone' and tonumber(score) > check.latest then check.add('clock', jid, 'completed at ' .. score) end
  end
end
