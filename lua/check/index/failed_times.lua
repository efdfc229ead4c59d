-- Checks an entry of the list of failure times. Some time after it, qless-php deletes the job of the entry. So the job
-- must be failed, and not have failed again since.
-- Takes: jid
return function(check)
  local key, number = Keys.failed_times, need('value/number')
  return function(jid)
    local score, wrong = check.ask('zscore', key, jid)
    if wrong then return check.wrong_type(key, 'zset') end
    if not score then return end
    local what, job = check.read(jid)
    if what == 'type' then return check.wrong_type(Keys.job .. jid, 'hash') end
    if what == 'gone' or what == 'stub' then
      return check.add('failed-time-ghost', jid, '', {{'zset', key, jid, score, false}})
    elseif job.state ~= 'failed' then
      return check.add('failed-time', jid, 'is ' .. (job.state or 'in no state'), {{'zset', key, jid, score, false}})
    end
    local when = number(need('failure/decode')(job.failure).when)
    -- The time of a failure is rounded to whole seconds or 14 digits: ignore a difference of up to a second.
    if when and when > tonumber(score) + 1 then
      check.add('failed-time', jid, 'failed again at ' .. check.score(when),
        {{'zset', key, jid, score, check.score(when)}})
    end
  end
end
