-- Reads and checks the options of put.
-- Takes: argv; the position of the first option; the job (job/put), whose fields they become; those of option/read
--   become its field `coordination`
-- Refuses: an odd number of words, wrong values
return function(argv, first, job)
  if (#argv - first) % 2 == 0 then error('Odd number of additional args: ' .. tostring(job)) end
  local given, others = {}, #argv - first + 1
  for i = first, #argv, 2 do given[argv[i]] = argv[i + 1] end
  if given.retries then
    job.retries = need('value/number')(given.retries)
    others = others - 2
    if not job.retries then error('Put(): Arg "retries" not a number: ' .. given.retries) end
  end
  if given.tags then
    job.tags = need('value/names')(given.tags, 'objects', 1000)
    others = others - 2
    if job.tags == nil then error('Put(): Arg "tags" not JSON' .. given.tags) end
    if job.tags and job.tags[1001] then need('job/refuse_too_many_tags')('Put', #job.tags) end
  end
  if given.priority then
    job.priority = need('value/number')(given.priority)
    others = others - 2
    if not job.priority then error('Put(): Arg "priority" not a number' .. given.priority) end
  end
  if given.depends then
    job.depends = need('value/names')(given.depends, 'objects', 20000)
    others = others - 2
    if job.depends == nil then error('Put(): Arg "depends" not JSON: ' .. given.depends) end
    if job.depends and job.depends[20001] then error('Put(): Arg "depends" has more than 20000 jids') end
  end
  if given.backoff and need('option/empty_backoff')(given, job) then others = others - 2 end
  if php and job.tags then job.tags = need('value/without_blanks')(job.tags) end
  if others > 0 and need('option/given')(given) then job.coordination = need('option/read')(given, 'Put') end
  -- Refuse documents of the wrong shape after all other errors, in the order of qless-core: `depends` that is not a
  -- list, then `tags`, then `depends` whose items are not names.
  local not_a_list = job.depends == false and not string.find(given.depends, '^%s*%[')
  if job.tags == false and not not_a_list then error('Put(): Arg "tags" not JSON' .. given.tags) end
  if job.depends == false then error('Put(): Arg "depends" not JSON: ' .. given.depends) end
end
