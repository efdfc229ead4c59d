-- Adds the change of a tag's counter to changes that add an entry to the tag's index, or remove one. A counter that
-- does not match the index now is left alone: perhaps the index is wrong, and the changes make them match.
-- Takes: changes; tag; 1 or -1
return function(check)
  return function(changes, tag, by)
    local count, score = check.ask('zcard', Keys.tag .. tag), check.ask('zscore', Keys.tags, tag)
    if not count or score == nil or (tonumber(score or 0)) ~= count then return end
    changes[#changes + 1] = {'zset', Keys.tags, tag, score, count + by > 0 and '' .. count + by}
  end
end
