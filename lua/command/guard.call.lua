-- Runs a command on a job if the job has not changed since the client read its mark. Adds `note` to the job's history.
-- Takes: jid mark note command arg ...
--   `command`: timeout priority depends fail bury retry complete log track, `tag add`, `tag remove`, or
--   `tag swap jid count tag ...`, which removes the first `count` tags and adds the others; `complete`
--   with empty data keeps the data of the job
-- Result: outcome, mark and the reply of the command: `done` (text, nil or list), `gone`, `state_changed`,
--   `invalid` (why)
-- Refuses: what the command refuses, in its words; other commands and other jobs
local Job = Fields('jid', 'state', 'queue')

-- The index of the jid in `argv` for each command. For `tag` and `track`, a word such as `add` stands before the jid.
local jid_slots = {
  timeout = 7, priority = 7, depends = 7, fail = 7, bury = 7, retry = 7, complete = 7, log = 7, tag = 8, track = 8,
}

return function(argv, now, t, seconds)
  local jid, mark, name = argv[3], argv[4], argv[6]
  if not jid or not mark then error('Guard(): jid or mark missing') end
  local note = need('history/note')(seconds, argv[5])
  local slot = name and jid_slots[name]
  if not slot then error('Guard(): no command that may be guarded: ' .. tostring(name)) end
  local verb = argv[7]
  local swap = name == 'tag' and verb == 'swap'
  local off = swap and tonumber(argv[9])
  if swap then
    if not off or off % 1 ~= 0 or off < 0 or off > #argv - 9 then error('Guard(): how many tags go is wrong') end
  elseif name == 'tag' and verb ~= 'add' and verb ~= 'remove' then
    error('Guard(): only tag add, tag remove and tag swap')
  end
  if argv[slot] ~= jid or name == 'timeout' and argv[8] then error('Guard(): another job than ' .. jid) end

  local outcome, key = need('value/outcome_row'), Keys.job .. jid
  local job = redis.pcall('hmget', key, unpack(Job))
  if job.err then
    return outcome('invalid', '', need('value/wrong_type')(job, false, 'hash', key, 'hmget', key, 'jid', 'state'))
  end
  if not job[Job.jid] then return outcome('gone', '') end
  local present = need('job/mark')(jid, job[Job.state], job[Job.queue])
  if mark ~= '' and mark ~= present then return outcome('state_changed', present) end
  local bad = need('value/key_fault')()('list', key .. Keys.history)
  if bad then return outcome('invalid', present, bad) end

  local command = {name, argv[2]}
  if swap or name == 'tag' and verb == 'add' then
    -- Count the tags that the job would have, and refuse more than 1000 before any tag is removed. The refusal is an
    -- outcome, not an error: a client with many jobs goes on with the next one.
    local has, count = {}, 0
    local function set(first, last, to)
      for i = first, last do
        if (has[argv[i]] or false) ~= to then count = count + (to and 1 or -1) end
        has[argv[i]] = to
      end
    end
    local tags = need('job/tags')(redis.call('hget', key, 'tags'))
    for i = 1, #tags do
      if not has[tags[i]] then count = count + 1 end
      has[tags[i]] = true
    end
    if swap then set(10, off + 9, false) end
    local before = count
    set(swap and off + 10 or 9, #argv, true)
    if count > 1000 and count > before then return outcome('invalid', present, 'more than 1000 tags') end
  end
  if swap then
    if argv[off + 10014] or off > 10000 then error('Guard(): more than 10000 tags') end
    local gone = {name, argv[2], 'remove', jid}
    for i = 1, off do gone[i + 4] = argv[i + 9] end
    need(name, true)(gone, now, t, seconds)
    command[3], command[4] = 'add', jid
    for i = off + 10, #argv do command[i - off - 5] = argv[i] end
  else
    for i = 7, #argv do command[i - 4] = argv[i] end
    if name == 'complete' and command[6] == '' then command[6] = redis.call('hget', key, 'data') or '' end
  end
  local reply = need(name, true)(command, now, t, seconds)
  if note and redis.call('exists', key) == 1 then need('history/append')(jid, note) end
  if type(reply) == 'number' then reply = string.format('%.14g', reply) end
  return {'done', '', reply or false}
end
