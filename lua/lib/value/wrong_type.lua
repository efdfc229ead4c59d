-- Returns what is wrong with a key that could not be read: it is of another kind. Whatever else the
-- server refuses, for want of rights say, tells nothing of the key and is raised, by the same words;
-- but not after a write of this call (`wrote`), for that would leave the rest of it undone: then the
-- server's words are what is wrong.
return function(reply, wrote, kind, key, ...)
  if string.find(reply.err, 'WRONGTYPE', 1, true) then return key .. ' is no ' .. kind end
  if not wrote then redis.call(...) end
  return reply.err
end
