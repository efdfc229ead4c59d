-- Reads the options of `complete`. A last word without a partner is ignored.
-- Takes: argv; the positions of the first and of the last option
-- Result: the next queue, the delay, the jids of `depends` (nil if absent, false if the document is not a list
--   of names), the words by name, the options of option/read, if any is given
-- Refuses: wrong values; options without a next queue
return function(argv, first, last)
  local given, others = {}, last - first + 1
  for i = first, last, 2 do given[argv[i]] = i < last and argv[i + 1] or nil end
  local delay, names = 0, nil
  if given.delay then
    delay = need('value/number')(given.delay)
    others = others - 2
    if not delay then error('assertion failed!') end
  end
  if given.depends then
    names = need('value/names')(given.depends, 'objects', 20000)
    others = others - 2
    if names == nil then error('Complete(): Arg "depends" not JSON: ' .. given.depends) end
    if names and names[20001] then error('Complete(): Arg "depends" has more than 20000 jids') end
  end
  if given.delay and not given.next then error('Complete(): "delay" cannot be used without a "next".') end
  if given.depends and not given.next then error('Complete(): "depends" cannot be used without a "next".') end
  local coordination
  if given.next then others = others - 2 end
  if others > 0 and need('option/given')(given) then
    local own = {
      throttles = given.throttles, lock = given.lock, key = given.key, hold = given.hold, backoff = given.backoff,
    }
    coordination = need('option/read')(own, 'Complete')
    if not given.next then
      for _, name in ipairs({'throttles', 'lock', 'key', 'hold', 'backoff'}) do
        if own[name] then error('Complete(): "' .. name .. '" cannot be used without a "next".') end
      end
    end
  end
  return given.next, delay, names, given, coordination
end
