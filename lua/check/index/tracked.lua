-- Checks that a tracked job exists.
-- Takes: jid
return function(c)
  return function(jid)
    local score, wrong = c.ask('zscore', Keys.tracked, jid)
    if wrong then return c.wrong_type(Keys.tracked, 'zset') end
    if score and redis.call('exists', Keys.job .. jid) == 0 then
      c.add('tracked-gone', jid, '', {{'zset', Keys.tracked, jid, score, false}})
    end
  end
end
