-- What is wrong with a key of another type. Any other refusal, as of a missing right, says nothing
-- about the key and is raised again. After a write of this call it is returned instead, because an error
-- would leave the rest of the call undone.
-- Takes: the error reply; whether this call has written; kind; key; the command that was refused
return function(reply, wrote, kind, key, ...)
  if string.find(reply.err, 'WRONGTYPE', 1, true) then return key .. ' is no ' .. kind end
  if not wrote then redis.call(...) end
  return reply.err
end
