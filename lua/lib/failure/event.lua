-- Returns the payload of `failed`. The order of its members is part of the contract.
return function(jid, group, message, worker)
  local encode = cjson.encode
  return '{"message":' .. encode(message) .. ',"jid":' .. encode(jid) .. ',"group":' .. encode(group) ..
    ',"event":"failed","worker":' .. encode(worker) .. '}'
end
