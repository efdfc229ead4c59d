-- Reads and checks the options of throttles, lanes, merging, uniqueness and back-off.
-- Takes: the words by name; the command as its errors name it
-- Returns: a table of throttles (list), lock, key, dup, starts (whether `until` is `start`), ttl, score, rescore,
--   hold (whether), backoff; `keyed`: the first option given that wants a key
-- Refuses: wrong values
local choices = {
  dup = {'must be queue, merge, skip or replace', queue = true, merge = true, skip = true, replace = true},
  ['until'] = {'must be start or end', start = true, ['end'] = true},
  rescore = {'must be min or max', min = true, max = true},
  hold = {'must be 0 or 1', ['0'] = true, ['1'] = true},
}

return function(given, who)
  local x, number = {key = given.key, lock = given.lock}, need('value/number')
  local function refuse(name, why) error(who .. '(): Arg "' .. name .. '" ' .. why) end
  if given.throttles then
    local ok, list = pcall(need('value/names'), given.throttles)
    if not ok or not list then refuse('throttles', 'not JSON array: ' .. given.throttles) end
    if #list > 32 then refuse('throttles', 'has more than 32 ids') end
    for i = 1, #list do
      if need('throttle/reserved')(list[i]) then refuse('throttles', 'has an id that ends in -locks or -pending') end
    end
    x.throttles = list
  end
  if x.key and #x.key > 512 then refuse('key', 'longer than 512 bytes') end
  for _, name in ipairs({'dup', 'until', 'ttl', 'score', 'rescore', 'hold'}) do
    local value, choice = given[name], choices[name]
    if value then
      x.keyed = x.keyed or name
      if choice and not choice[value] then refuse(name, choice[1] .. ': ' .. value) end
    end
  end
  x.dup, x.rescore, x.starts = given.dup, given.rescore, given['until'] and given['until'] == 'start'
  x.hold = given.hold and given.hold == '1'
  if given.ttl then
    x.ttl = number(given.ttl)
    if not x.ttl or x.ttl <= 0 then refuse('ttl', 'not a positive number: ' .. given.ttl) end
  end
  if given.score then
    x.score = number(given.score)
    if not x.score then refuse('score', 'not a number: ' .. given.score) end
  end
  if given.backoff then
    x.backoff = given.backoff
    if x.backoff ~= '' and not need('option/backoff')(x.backoff) and not need('option/lost_lock')(x.backoff) then
      refuse('backoff', 'not a policy: ' .. given.backoff)
    end
  end
  return x
end
