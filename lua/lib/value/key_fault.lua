-- Makes a function that tests the types of keys. With it, a call refuses a job before the first write if a later write
-- would fail. Each key is read once per call.
-- Takes: the progress of the call, if it writes between tests: its field `wrote` says whether the call has written
return function(progress)
  local pcall, known = redis.pcall, {}

  local function test(kind, key)
    if known[key] then return end
    local reply
    if kind == 'hash' then
      reply = pcall('hget', key, 'jid')
    elseif kind == 'list' then
      reply = pcall('llen', key)
    elseif kind == 'set' then
      reply = pcall('scard', key)
    else
      reply = pcall('zcard', key)
    end
    if type(reply) == 'table' then
      local command = {kind == 'list' and 'llen' or kind == 'set' and 'scard' or 'zcard', key}
      if kind == 'hash' then command = {'hget', key, 'jid'} end
      return need('value/wrong_type')(reply, progress and progress.wrote, kind, key, unpack(command))
    end
    known[key] = true
  end

  -- Takes kind, key, kind, key, ..., or a kind and a list of keys. Returns nil, or a text about the first wrong key.
  return function(...)
    local args = {...}
    local list = type(args[2]) == 'table' and args[2]
    for i = 1, list and #list or #args / 2 do
      local fault = test(list and args[1] or args[2 * i - 1], list and list[i] or args[2 * i])
      if fault then return fault end
    end
  end
end
