-- Changes the given fields of a template; one wrong value leaves all unchanged. A new interval shifts the next run.
-- Takes: jid [key value ...] with the keys priority interval retries data klass queue backlog, and the options of
--   put for throttles, lanes, merging, uniqueness and back-off; an empty value removes such an option
-- Result: 1
-- Refuses: a missing template, unknown keys, wrong values
local Template = Fields('jid', 'queue', 'interval', 'opts')

return function(argv, _, t)
  local call, jid = redis.call, argv[3]
  if not jid then error('Recurring(): no jid provided') end
  local key = Keys.recurring .. jid
  local old = call('hmget', key, unpack(Template))
  if not old[Template.jid] and not old[Template.queue] then error('Recur(): No recurring job ' .. jid) end
  local number = need('value/number')
  local write, given, changed = {}, {}, false
  for i = 4, #argv, 2 do
    local name, value = argv[i], argv[i + 1]
    if not value then error('No value provided for ' .. name) end
    if name == 'priority' or name == 'interval' or name == 'retries' then
      local n = number(value)
      if not n then error('Recur(): Arg "' .. name .. '" must be a number: ' .. value) end
      if name == 'interval' and n <= 0 then error('Recur(): Arg "interval" must be greater than 0') end
      value = n
    elseif name == 'data' then
      if cjson.decode(value) == false then error('Recur(): Arg "data" is not JSON-encoded: ' .. value) end
    elseif name == 'backlog' then
      local n = number(value)
      if not n then error('Recur(): Arg "backlog" not a number: ' .. value) end
      value = n
    elseif need('option/given')({[name] = value}) then
      given[name], changed = value, true
    elseif name ~= 'klass' and name ~= 'queue' then
      error('Recur(): Unrecognized option "' .. name .. '"')
    end
    if not given[name] then write[#write + 1], write[#write + 2] = name, value end
  end
  if changed then
    local ok, stored = pcall(cjson.decode, old[Template.opts] or '{}')
    write[#write + 1] = 'opts'
    write[#write + 1] = need('option/stored')(given, ok and type(stored) == 'table' and stored or {}, 'Recur')
  end
  local queue, interval = old[Template.queue] or '', tonumber(old[Template.interval])
  for i = 1, #write, 2 do
    local name, value = write[i], write[i + 1]
    if name == 'interval' then
      if interval and interval - interval == 0 then
        call('zadd', Keys.queue .. queue .. Keys.recur, 'XX', 'INCR', value - interval, jid)
      end
      interval = value
    elseif name == 'queue' then
      local score = call('zscore', Keys.queue .. queue .. Keys.recur, jid)
      if score then
        call('zrem', Keys.queue .. queue .. Keys.recur, jid)
        call('zadd', Keys.queue .. value .. Keys.recur, score, jid)
      end
      call('zadd', Keys.queues, 'NX', t, value)
      queue = value
    end
    call('hset', key, name, value)
  end
  return 1
end
