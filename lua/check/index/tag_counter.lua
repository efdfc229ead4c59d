-- Returns a function that adds the counter of a tag whose index gets one more or less, if the
-- counter was right before: if not, the index may be what was wrong.
return function(c)
  return function(changes, tag, by)
    local count, score = c.ask('zcard', Keys.tag .. tag), c.ask('zscore', Keys.tags, tag)
    if not count or score == nil or (tonumber(score or 0)) ~= count then return end
    changes[#changes + 1] = {'zset', Keys.tags, tag, score, count + by > 0 and '' .. count + by}
  end
end
