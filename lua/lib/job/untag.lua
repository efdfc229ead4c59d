-- Removes a job from the index of each given tag, and lowers the tag's count by 1. Deletes a count that falls to 0.
-- Takes: jid; tags
return function(jid, tags)
  local call = redis.call
  for i = 1, #tags do
    local tag = tags[i]
    if call('zrem', Keys.tag .. tag, jid) == 1 then
      local left = call('zincrby', Keys.tags, -1, tag)
      if left == '0' or string.byte(left) == 45 then call('zrem', Keys.tags, tag) end
    end
  end
end
