-- Checks that the counter of a tag is the number of jobs in the tag's index.
-- Takes: tag
return function(check)
  return function(tag)
    local score, wrong = check.ask('zscore', Keys.tags, tag)
    if wrong then return check.wrong_type(Keys.tags, 'zset') end
    local key = Keys.tag .. tag
    local count
    count, wrong = check.ask('zcard', key)
    if wrong then return check.wrong_type(key, 'zset') end
    if tonumber(score or 0) ~= count or score and count == 0 then
      check.add('tag-count', tag, (score or 'none') .. ', is ' .. count,
        {{'zset', Keys.tags, tag, score, count > 0 and '' .. count}})
    end
  end
end
