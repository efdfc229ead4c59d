-- The payload of the event `failed`. Clients may rely on the order of its fields.
-- Takes: jid group message worker
return function(jid, group, message, worker)
  local encode = cjson.encode
  return '{"message":' .. encode(message) .. ',"jid":' .. encode(jid) .. ',"group":' .. encode(group) ..
    ',"event":"failed","worker":' .. encode(worker) .. '}'
end
