-- Reads and checks the options of throttles, lanes, merging, uniqueness and back-off.
-- Takes: the words by name; the command as its errors name it
-- Result: a table of throttles (list), lock, key, dup, starts (whether `until` is `start`), ttl, score, rescore,
--   hold (whether), backoff; `keyed`: the first option given that requires a key
-- Refuses: wrong values
local choices = {
  dup = {'must be queue, merge, skip or replace', queue = true, merge = true, skip = true, replace = true},
  ['until'] = {'must be start or end', start = true, ['end'] = true},
  rescore = {'must be min or max', min = true, max = true},
  hold = {'must be 0 or 1', ['0'] = true, ['1'] = true},
}

return function(given, who)
  local options, number = {key = given.key, lock = given.lock}, need('value/number')
  local function refuse(name, why) error(who .. '(): Arg "' .. name .. '" ' .. why) end
  if given.throttles then
    local ok, list = pcall(need('value/names'), given.throttles)
    if not ok or not list then refuse('throttles', 'not JSON array: ' .. given.throttles) end
    if #list > 32 then refuse('throttles', 'has more than 32 ids') end
    for i = 1, #list do
      if need('throttle/reserved')(list[i]) then refuse('throttles', 'has an id that ends in -locks or -pending') end
    end
    options.throttles = list
  end
  if options.key and #options.key > 512 then refuse('key', 'longer than 512 bytes') end
  for _, name in ipairs({'dup', 'until', 'ttl', 'score', 'rescore', 'hold'}) do
    local value, choice = given[name], choices[name]
    if value then
      options.keyed = options.keyed or name
      if choice and not choice[value] then refuse(name, choice[1] .. ': ' .. value) end
    end
  end
  options.dup, options.rescore, options.starts = given.dup, given.rescore, given['until'] and given['until'] == 'start'
  options.hold = given.hold and given.hold == '1'
  if given.ttl then
    options.ttl = number(given.ttl)
    if not options.ttl or options.ttl <= 0 then refuse('ttl', 'not a positive number: ' .. given.ttl) end
  end
  if given.score then
    options.score = number(given.score)
    if not options.score then refuse('score', 'not a number: ' .. given.score) end
  end
  if given.backoff then
    options.backoff = given.backoff
    if options.backoff ~= '' and not need('option/backoff')(options.backoff)
      and not need('option/lost_lock')(options.backoff) then
      refuse('backoff', 'not a policy: ' .. given.backoff)
    end
  end
  return options
end
