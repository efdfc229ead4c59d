-- The data of a merge job: the JSON array of its payloads, by score, each as it was given.
-- Takes: jid
return function(jid)
  return '[' .. table.concat(redis.call('zrange', Keys.job .. jid .. Keys.payloads, 0, -1), ',') .. ']'
end
