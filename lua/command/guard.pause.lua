-- Pauses queues until a time, and stores since when, by whom and why. Other clients see a pause without an end: it
-- lasts until a client that knows the end reads the pause after that time.
-- Takes: until (`''` for no end) note queue ...
-- Refuses: an `until` that is not a number, more than 500 queues, keys of the wrong type
return function(argv, now, _, seconds)
  local till, note = argv[3], argv[4]
  if not till then error('Guard(): until missing') end
  local moment = 'null'
  if till ~= '' then
    local n = need('value/number')(till)
    if not n then error('Guard(): until is not a number: ' .. till) end
    moment = string.format('%.17g', n)
  end
  need('history/note')(seconds, note)
  local given = note ~= '' and cjson.decode(note) or {}
  if not argv[5] then error('Guard(): no queue') end
  if #argv - 4 > 500 then error('Guard(): more than 500 queues') end
  local function text(value) return type(value) == 'string' and cjson.encode(value) or 'null' end
  local pause = '{"since":' .. string.format('%.17g', now) .. ',"until":' .. moment .. ',"reason":' ..
    text(given.reason) .. ',"by":' .. text(given.by) .. '}'
  local bad = need('value/key_fault')()('hash', Keys.pauses, 'set', Keys.paused)
  if bad then error('Guard(): ' .. bad) end
  for i = 5, #argv do
    redis.call('hset', Keys.pauses, argv[i], pause)
    redis.call('sadd', Keys.paused, argv[i])
  end
end
