-- Adds the new counter of a tag whose index gains or loses an entry. If the counter was wrong before, it
-- is left alone: the index may have been the fault.
-- Takes: changes; tag; 1 or -1
return function(check)
  return function(changes, tag, by)
    local count, score = check.ask('zcard', Keys.tag .. tag), check.ask('zscore', Keys.tags, tag)
    if not count or score == nil or (tonumber(score or 0)) ~= count then return end
    changes[#changes + 1] = {'zset', Keys.tags, tag, score, count + by > 0 and '' .. count + by}
  end
end
