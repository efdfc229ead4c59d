-- Runs a Redis command that reads. A key of another type is no error. Any other refusal is raised: a key that the user
-- is not allowed to read must not count as empty.
-- Takes: what redis.call takes
-- Result: the reply; nil and true if the key is of another type
return function(...)
  local reply = redis.pcall(...)
  if type(reply) ~= 'table' or not reply.err then return reply end
  if string.find(reply.err, 'WRONGTYPE', 1, true) then return nil, true end
  return redis.call(...)
end
