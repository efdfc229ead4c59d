-- The queue that the newest `put` entry in a job's history names, nil if it is unknown.
-- Takes: jid
return function(jid)
  local history = redis.pcall('lrange', Keys.job .. jid .. Keys.history, 0, -1)
  if history.err then return nil end
  for i = #history, 1, -1 do
    if string.find(history[i], '"put"', 1, true) then
      local ok, entry = pcall(cjson.decode, history[i])
      if ok and type(entry) == 'table' and entry[2] == 'put' and type(entry[3]) == 'table'
        and type(entry[3].q) == 'string' then
        return entry[3].q
      end
    end
  end
end
