-- Judges items of one kind at one instant, and repairs immediately what is wrong, if asked.
-- Takes: look|mend findings run kind name item ..., at most 200 items
--   `findings`: `''` for all, or ids separated by commas; `-id` excludes one. Naming an id approves its repair.
--   `run`: the name of the repair, which becomes part of the names under `lost:`.
--   `kind` and items: job, recurring (jids); work, locks, scheduled, depends, throttled, completed_in, recur (members;
--   `name` is the queue); worker, group, tag, lane, slots, pending (members; `name` is which; for the last two the
--   throttle); completed, failed_times, tracked (members); names (members of the list `name`: queues, failures, tags,
--   workers, paused_queues, throttles, config); key (key names without prefix); cycle (jids, each depending on the
--   next); failed (jids), unlisted (jid and mark alternately, of jobs that are in no failure list), entries (where
--   blocks of 50 entries begin, counted from the end, ascending): `name` is the group.
--   `name` is `''` for the other kinds; `together` for jobs that belong in one call.
--   Two findings require a complete scan first (docs/check.md); `failed-counter` requires correct lists; all
--   jobs with the same job among their dependents belong in one call.
-- Result: per finding: id, item, outcome (`found`, `decide`, `report`, `mended`), detail, and per change: key,
--   item, before, after. `look` writes nothing. An outcome `found` in a repair means that the server
--   refused the changes; the items after it were not judged. If the items cost too much for one call, the last
--   row is the number of items that were judged. Jobs of `entries` to be judged as items of `group` follow
--   that number.
-- Refuses: unknown kinds, names and findings

local judges = {
  job = 'judge/job',
  recurring = 'judge/recurring',
  work = 'index/member',
  locks = 'index/member',
  scheduled = 'index/member',
  depends = 'index/member',
  throttled = 'index/member',
  recur = 'index/recur',
  worker = 'index/worker',
  group = 'index/group',
  failed = 'index/failed',
  unlisted = 'index/unlisted',
  entries = 'index/entries',
  tag = 'index/tag',
  lane = 'index/lane',
  slots = 'index/slots',
  pending = 'index/pending',
  completed = 'index/completed',
  completed_in = 'index/completed_in',
  failed_times = 'index/failed_times',
  tracked = 'index/tracked',
  key = 'key/key',
  cycle = 'judge/cycle',
}

local judges_of_names = {
  queues = 'index/queues',
  failures = 'index/failures',
  tags = 'index/tags',
  workers = 'index/workers',
  paused_queues = 'index/paused_queues',
  throttles = 'index/throttles',
  config = 'index/config',
}

return function(argv, now, t)
  local mode, findings, run, kind, name = argv[3], argv[4], argv[5], argv[6], argv[7]
  if mode ~= 'look' and mode ~= 'mend' then error('Check(): "look" or "mend" missing') end
  if not name then error('Check(): findings, run, kind or name missing') end
  if mode == 'mend' and run == '' then error('Check(): a repair needs the name of its run') end
  if #argv - 7 > 200 then error('Check(): more than 200 items') end
  local judge_name = judges[kind]
  if kind == 'names' then
    judge_name = judges_of_names[name]
    if not judge_name then error('Check(): unknown names ' .. name) end
  elseif not judge_name then
    error('Check(): unknown kind ' .. kind)
  end
  local check, unknown = need('judge/context')(now, t, mode == 'mend', run, findings)
  if not check then error('Check(): unknown finding ' .. unknown) end
  local judge = need(judge_name)(check, name, kind)
  if kind == 'cycle' or kind == 'entries' then
    local judged, others = judge(need('value/args_from')(argv, 8))
    judged, others = judged or #argv - 7, others or {}
    if check.pending[1] then check.flush() end
    if judged < #argv - 7 or others[1] then check.rows[#check.rows + 1] = {'' .. judged, unpack(others)} end
  else
    local step = kind == 'unlisted' and 2 or 1
    for i = 8, #argv, step do
      judge(argv[i], argv[i + 1])
      if check.pending[1] then
        check.flush()
        if check.refused then break end
      end
      -- End the reply after about 4 ms, and name the first item that is left for the next call.
      if check.cost > 4000 and i + step <= #argv and name ~= 'together' then
        check.rows[#check.rows + 1] = {'' .. i + step - 8}
        break
      end
    end
  end
  return check.rows
end
