-- Returns a function that tells whether keys are of the kinds they should be, so that a job whose
-- writes would break off is refused before the first. Each key is asked once in a call. `book`: of a
-- call that writes before it has asked for all; `wrote` in it tells that it did.
return function(progress)
  local pcall, known = redis.pcall, {}
  -- Returns nil, or what is wrong. `...`: kind, key, kind, key, ...
  return function(...)
    local args = {...}
    for i = 1, #args, 2 do
      local kind, key = args[i], args[i + 1]
      if not known[key] then
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
    end
  end
end
