-- Words the refusal of a command because its key has another type. Raises any other refusal again, such as one for a
-- missing right or a full memory. But if this call has written already, that refusal's text is the result, because an
-- error would leave the rest of the call undone.
-- Takes: the error reply; whether this call has written; kind; key; the command that was refused
return function(reply, wrote, kind, key, ...)
  if string.find(reply.err, 'WRONGTYPE', 1, true) then return key .. ' is no ' .. kind end
  if not wrote then
    need('value/raise_write_refusal')(reply.err)
    redis.call(...)
  end
  return reply.err
end
