-- Reads and checks the options of put.
-- Takes: argv; the position of the first option
-- Returns: the options as job/put takes them; all words by name
-- Refuses: an odd number of words, wrong values
return function(argv, first)
  local o = {}
  if (#argv - first) % 2 == 0 then error('Odd number of additional args: ' .. tostring(o)) end
  local given = {}
  for i = first, #argv, 2 do given[argv[i]] = argv[i + 1] end
  if given.retries then
    o.retries = need('value/number')(given.retries)
    if not o.retries then error('Put(): Arg "retries" not a number: ' .. given.retries) end
  end
  if given.tags then
    o.tags = need('value/names')(given.tags)
    if not o.tags then error('Put(): Arg "tags" not JSON' .. given.tags) end
  end
  if given.priority then
    o.priority = need('value/number')(given.priority)
    if not o.priority then error('Put(): Arg "priority" not a number' .. given.priority) end
  end
  if given.depends then
    o.depends = need('value/names')(given.depends)
    if not o.depends then error('Put(): Arg "depends" not JSON: ' .. given.depends) end
  end
  return o, given
end
