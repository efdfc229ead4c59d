-- Removes a job from the index of a tag. A counter that falls to 0 is deleted.
-- Takes: jid tag
return function(jid, tag)
  local call = redis.call
  if call('zrem', Keys.tag .. tag, jid) == 0 then return end
  local left = call('zincrby', Keys.tags, -1, tag)
  if left == '0' or string.byte(left) == 45 then call('zrem', Keys.tags, tag) end
end
