-- Returns a function that tells whether keys are of the kinds they should be, so that a job whose
-- writes would break off is refused before the first. Each key is asked once in a call.
return function()
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
        if type(reply) == 'table' then return key .. ' is no ' .. kind end
        known[key] = true
      end
    end
  end
end
