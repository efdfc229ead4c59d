-- Payloads that more than one room publishes. The order of their members is part of the contract.
local encode = cjson.encode
local Event = {}

function Event.failed(jid, group, message, worker)
  return '{"message":' .. encode(message) .. ',"jid":' .. encode(jid) .. ',"group":' .. encode(group) ..
    ',"event":"failed","worker":' .. encode(worker) .. '}'
end

return Event
