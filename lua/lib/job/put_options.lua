-- Reads and checks the options of put.
-- Takes: argv; the position of the first option
-- Returns: the options as job/put takes them, and in `x` those of option/read, if any is given; all words by name
-- Refuses: an odd number of words, wrong values
return function(argv, first)
  local o = {}
  if (#argv - first) % 2 == 0 then error('Odd number of additional args: ' .. tostring(o)) end
  local given, others = {}, #argv - first + 1
  for i = first, #argv, 2 do given[argv[i]] = argv[i + 1] end
  if given.retries then
    o.retries = need('value/number')(given.retries)
    others = others - 2
    if not o.retries then error('Put(): Arg "retries" not a number: ' .. given.retries) end
  end
  if given.tags then
    o.tags = need('value/names')(given.tags, 'objects', 1000)
    others = others - 2
    if o.tags == nil then error('Put(): Arg "tags" not JSON' .. given.tags) end
    if o.tags and o.tags[1001] then need('job/few_tags')('Put', #o.tags) end
  end
  if given.priority then
    o.priority = need('value/number')(given.priority)
    others = others - 2
    if not o.priority then error('Put(): Arg "priority" not a number' .. given.priority) end
  end
  if given.depends then
    o.depends = need('value/names')(given.depends, 'objects', 20000)
    others = others - 2
    if o.depends == nil then error('Put(): Arg "depends" not JSON: ' .. given.depends) end
    if o.depends and o.depends[20001] then error('Put(): Arg "depends" has more than 20000 jids') end
  end
  if given.backoff and need('option/empty_backoff')(given, o) then others = others - 2 end
  if php and o.tags then o.tags = need('value/without_blanks')(o.tags) end
  if others > 0 and need('option/given')(given) then o.x = need('option/read')(given, 'Put') end
  -- Documents of a wrong shape are refused after all other errors, in the order of qless-core: `depends` that
  -- is not a list, then `tags`, then `depends` whose items are not names.
  local not_a_list = o.depends == false and not string.find(given.depends, '^%s*%[')
  if o.tags == false and not not_a_list then error('Put(): Arg "tags" not JSON' .. given.tags) end
  if o.depends == false then error('Put(): Arg "depends" not JSON: ' .. given.depends) end
  return o, given
end
