-- Checks that a tracked job exists.
-- Takes: jid
return function(check)
  return function(jid)
    local score, wrong = check.ask('zscore', Keys.tracked, jid)
    if wrong then return check.wrong_type(Keys.tracked, 'zset') end
    if score and redis.call('exists', Keys.job .. jid) == 0 then
      check.add('tracked-gone', jid, '', {{'zset', Keys.tracked, jid, score, false}})
    end
  end
end
