-- Reads the words of one job of guard.put.
-- Takes: argv; the position of its first word; the number of its words
-- Result: the job as job/put takes it, with `at` and `note`; `coordination`, the options of option/read and `lane` and
--   `payloads`, if any is given; `invalid`, if no job can have this jid or queue; `plain`, if job/put_new takes it
-- Refuses: wrong words
local json, number, names = need('value/json_arg'), need('value/number'), need('value/names')
-- Parsed tags by their text: many jobs of a call have the same tags.
local tags_of = {}

return function(argv, first, count)
  if count < 5 or count % 2 == 0 then error('Guard(): a job has 5 words and pairs of options') end
  local delay = number(argv[first + 4])
  if not delay then error('Guard(): delay is not a number: ' .. argv[first + 4]) end
  local data = argv[first + 3]
  if json('data', data) == false then error('Guard(): data must not be the bare document false') end
  -- Name all fields in the constructor: a table that grows later costs more.
  local given = {}
  local job = {queue = argv[first], jid = argv[first + 1], klass = argv[first + 2], data = data, delay = delay,
    plain = true, priority = nil, retries = nil, tags = nil}
  for i = first + 5, first + count - 1, 2 do given[argv[i]] = argv[i + 1] end
  for name, value in pairs(given) do
    if name ~= 'priority' and name ~= 'retries' and name ~= 'at' and name ~= 'tags' then job.plain = false end
    if name == 'throttles' and string.find(value, '%z') then error('Guard(): NUL byte in throttles') end
    if name == 'priority' or name == 'retries' or name == 'remaining' or name == 'at' then
      local n = number(value)
      if not n then error('Guard(): ' .. name .. ' is not a number: ' .. value) end
      if name == 'remaining' and n % 1 ~= 0 then error('Guard(): remaining must be a whole number') end
      if name == 'remaining' then n = need('value/whole_tries')(n) end
      job[name] = n
    elseif name == 'tags' and tags_of[value] then
      job.tags = tags_of[value]
    elseif name == 'tags' or name == 'depends' then
      json(name, value)
      job[name] = names(value, nil, name == 'tags' and 1000 or 5000)
      if not job[name] then error('Guard(): ' .. name .. ' must be a JSON array of texts') end
      if name == 'tags' then
        need('job/refuse_too_many_tags')('Guard', #job.tags)
        tags_of[value] = job.tags
      end
      if job[name][5001] then error('Guard(): Arg "depends" has more than 5000 jids') end
    elseif name == 'history' then
      job.history = need('job/restore').history(value)
    elseif name == 'failed' then
      job.failed = need('job/restore').failed(value)
    elseif name == 'spawned_from_jid' then
      job.spawned_from_jid = value
    elseif name == 'note' then
      job.note = value
    elseif name == 'payloads' then
      job.payloads = need('job/restore').payloads(value)
    elseif name ~= 'lane' and not need('option/given')({[name] = value}) then
      error('Guard(): unknown option ' .. name)
    end
  end
  if given.backoff then need('option/empty_backoff')(given, job) end
  if not job.plain and (given.lane or job.payloads or need('option/given')(given)) then
    job.coordination = need('option/read')(given, 'Guard')
    job.coordination.lane, job.coordination.payloads = given.lane, job.payloads
    if job.payloads and (not given.lane or given.dup ~= 'merge') then
      error('Guard(): payloads want a lane, and dup merge')
    end
  end
  if job.at and delay ~= 0 then error('Guard(): at and a delay exclude each other') end
  if job.failed and (job.depends and job.depends[1] or job.at or delay ~= 0) then
    error('Guard(): failed excludes depends, at and a delay')
  end
  -- Test the last byte first, for speed: all reserved endings of a jid end in y or s.
  local last = string.byte(job.jid, -1)
  if job.queue == '' then
    job.invalid = 'queue name is empty'
  elseif not last then
    job.invalid = 'jid is empty'
  elseif (last == 121 or last == 115) and need('job/reserved')(job.jid) then
    job.invalid = 'jid ends in -history, -dependencies, -dependents or -payloads'
  end
  return job
end
