-- Checks the field `history` of a job, which old versions wrote in place of the list of entries. The reference core
-- reads it in each call that reads or changes the job, and raises an error if it cannot.
-- Takes: job
return function(check)
  return function(job)
    local text = check.ask('hget', job.key, 'history')
    if not text then return end
    if #text > check.longest then return check.too_long('j:' .. job.id, 'field history') end
    local entries, whole = need('history/legacy')(text)
    if whole then return end
    local list = job.key .. Keys.history
    local length, wrong = check.ask('llen', list)
    -- The entries cannot be moved into a list of the wrong type, which `judge/history` reports.
    if wrong then return end
    local changes = {
      {'hash', job.key, 'bad-history', check.ask('hget', job.key, 'bad-history'), text},
      {'hash', job.key, 'history', text, false},
    }
    for i = 1, entries and #entries or 0 do
      changes[#changes + 1] = {'list', list, string.format('%d', length + i - 1), false, entries[i]}
    end
    local waits = job.state == 'waiting' or job.state == 'stalled'
    check.add('job-unreadable', job.id, waits and 'field history of a waiting job' or 'field history', changes)
  end
end
