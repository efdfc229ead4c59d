-- Finds when a job last changed, if its newest history entry is only a note: the time of the newest of its last 100
-- entries that is not a note.
-- Result: a function of the jid and the newest entry, which returns the time as text; nil if the newest entry is no
--   note, or if all are notes
local changes = {put = true, popped = true, done = true, failed = true, retried = true, throttled = true,
  ['timed-out'] = true}

return function()
  local find_time = need('history/entry_time')
  local function is_change(entry) return changes[string.match(entry, '^%[%-?%d+,"([%a-]+)"') or ''] end
  return function(jid, newest)
    if is_change(newest) then return nil end
    local entries = redis.pcall('lrange', Keys.job .. jid .. Keys.history, -100, -2)
    for i = #entries, 1, -1 do
      if is_change(entries[i]) then return find_time(entries[i]) end
    end
  end
end
