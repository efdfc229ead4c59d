-- Compares the counter of a tag with its index.
-- Takes: tag
return function(c)
  return function(tag)
    local score, wrong = c.ask('zscore', Keys.tags, tag)
    if wrong then return c.wrong_type(Keys.tags, 'zset') end
    local key = Keys.tag .. tag
    local count
    count, wrong = c.ask('zcard', key)
    if wrong then return c.wrong_type(key, 'zset') end
    if tonumber(score or 0) ~= count or score and count == 0 then
      c.add('tag-count', tag, (score or 'none') .. ', is ' .. count,
        {{'zset', Keys.tags, tag, score, count > 0 and '' .. count}})
    end
  end
end
