-- Checks an entry of the list of times of failures: qless-php deletes its job when the time is long past, so the job
-- must be failed since then.
-- Takes: jid
return function(c)
  local key, number = Keys.failed_times, need('value/number')
  return function(jid)
    local score, wrong = c.ask('zscore', key, jid)
    if wrong then return c.wrong_type(key, 'zset') end
    if not score then return end
    local what, j = c.read(jid)
    if what == 'type' then return c.wrong_type(Keys.job .. jid, 'hash') end
    if what == 'gone' or what == 'stub' then
      return c.add('failed-time-ghost', jid, '', {{'zset', key, jid, score, false}})
    elseif j.state ~= 'failed' then
      return c.add('failed-time', jid, 'is ' .. (j.state or 'in no state'), {{'zset', key, jid, score, false}})
    end
    local when = number(need('failure/decode')(j.failure).when)
    -- A failure has whole seconds, or 14 digits.
    if when and when > tonumber(score) + 1 then
      c.add('failed-time', jid, 'failed again at ' .. c.score(when), {{'zset', key, jid, score, c.score(when)}})
    end
  end
end
