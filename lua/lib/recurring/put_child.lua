-- Puts the children of a template that has options of its own, or whose queue has defaults.
-- Takes: queue; id of the template; its fields as recurring/spawn reads them; tags
-- Result: a function of the due time and the next number, which returns the number used, and whether a child was
--   made: false if the put failed, or if `dup` kept the child from being put; nil if 1000 numbers are in use, with
--   the last of them as the number
-- Publishes: as put
local Template = Fields('recurring/spawn')

return function(queue, id, template, tags)
  local call, run = redis.call, need('put', true)
  local function finite(text)
    local n = need('value/number')(text)
    return n and string.format('%.17g', n) or '0'
  end
  local rest = {'priority', finite(template[Template.priority]), 'retries', finite(template[Template.retries])}
  if tags[1] then rest[5], rest[6] = 'tags', cjson.encode(tags) end
  local ok, opts = pcall(cjson.decode, template[Template.opts] or '{}')
  for name, value in pairs(ok and type(opts) == 'table' and opts or {}) do
    rest[#rest + 1], rest[#rest + 2] = name, tostring(value)
  end
  return function(at, number)
    local jid, last = id .. '-' .. number, number + 999
    while call('exists', Keys.job .. jid) == 1 do
      if number == last then return number, nil end
      number = number + 1
      jid = id .. '-' .. number
    end
    local t, seconds = string.format('%.17g', at), string.format('%.0f', math.floor(at))
    local words = {'put', t, '', queue, jid, template[Template.klass], template[Template.data], '0', unpack(rest)}
    local fine, took = pcall(run, words, at, t, seconds)
    if not fine or took ~= jid then return number, false end
    call('hset', Keys.job .. jid, 'spawned_from_jid', id)
    return number, true
  end
end
