-- The JSON text of a failure, as the field `failure` of a job stores it.
-- Takes: group message when worker
return function(group, message, when, worker)
  local encode = cjson.encode
  return '{"group":' .. encode(group) .. ',"message":' .. encode(message) .. ',"when":' .. when .. ',"worker":' ..
    encode(worker) .. '}'
end
