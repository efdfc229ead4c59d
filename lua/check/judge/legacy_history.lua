-- Checks the field `history` of a job, which versions before the list wrote: the reference core reads it in
-- each call that reads or changes the job, and raises if it cannot.
-- Takes: job
return function(c)
  return function(j)
    local text = c.ask('hget', j.key, 'history')
    if not text then return end
    if #text > 250000 then return c.add('not-judged', 'j:' .. j.id, 'field history beyond 250000 bytes') end
    local entries, whole = need('history/legacy')(text)
    if whole then return end
    local list = j.key .. Keys.history
    local length, wrong = c.ask('llen', list)
    -- `judge/history` reports a list of the wrong type. Until that is gone, nothing can be added.
    if wrong then return end
    local changes = {
      {'hash', j.key, 'bad-history', c.ask('hget', j.key, 'bad-history'), text},
      {'hash', j.key, 'history', text, false},
    }
    for i = 1, entries and #entries or 0 do
      changes[#changes + 1] = {'list', list, string.format('%d', length + i - 1), false, entries[i]}
    end
    local waits = j.state == 'waiting' or j.state == 'stalled'
    c.add('job-unreadable', j.id, waits and 'field history of a waiting job' or 'field history', changes)
  end
end
