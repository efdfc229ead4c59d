-- Adds dependencies to a job in state `depends`, if it still has the given mark. Adds all of them, or none.
-- Takes: jid mark note dependency ...; an empty mark fits every job; with `dry` in place of the note, writes nothing
-- Result: outcome, present mark, details. Outcomes: `done` (details: dependencies that are already complete),
--   `missing_dependency` (the missing ones), `cycle` (its jids), `gone`, `state_changed`, `invalid` (why)
-- Refuses: missing words, more than 500 dependencies
local Job = Fields('jid', 'state', 'queue', 'history')

return function(argv, _, _, seconds)
  local jid, mark = argv[3], argv[4]
  if not jid or not mark then error('Guard(): jid or mark missing') end
  local dry = argv[5] == 'dry'
  local note = not dry and need('history/note')(seconds, argv[5])
  if not argv[6] then error('Guard(): no dependency') end
  if #argv - 5 > 500 then error('Guard(): more than 500 dependencies') end
  local names, seen = {}, {}
  for i = 6, #argv do
    if not seen[argv[i]] then names[#names + 1] = argv[i] end
    seen[argv[i]] = true
  end
  local outcome, key = need('value/outcome_row'), Keys.job .. jid
  local job = redis.pcall('hmget', key, unpack(Job))
  if job.err then
    return outcome('invalid', '', need('value/wrong_type')(job, false, 'hash', key, 'hmget', key, 'jid', 'state'))
  end
  if not job[Job.jid] then return outcome('gone', '') end
  local current_mark = need('job/mark')(jid, job[Job.state], job[Job.queue])
  if job[Job.state] ~= 'depends' or mark ~= '' and mark ~= current_mark then
    return outcome('state_changed', current_mark)
  end
  local path, trouble = need('dependency/find_cycle')(jid, names)
  if path then return outcome('cycle', current_mark, path) end
  if path == false then return outcome('invalid', current_mark, trouble) end
  local pending, complete, missing = need('dependency/classify')(names)
  if missing[1] then return outcome('missing_dependency', current_mark, missing) end
  local key_fault = need('value/key_fault')()
  local invalid = key_fault('set', key .. Keys.dependencies, 'list', key .. Keys.history)
  for i = 1, #pending do invalid = invalid or key_fault('set', Keys.job .. pending[i] .. Keys.dependents) end
  if invalid then return outcome('invalid', current_mark, invalid) end
  if dry then return outcome('done', '', complete) end
  need('dependency/link')(jid, pending)
  if note then
    if job[Job.history] then need('history/migrate')(jid, job[Job.history]) end
    need('history/append')(jid, note)
  end
  return outcome('done', '', complete)
end
