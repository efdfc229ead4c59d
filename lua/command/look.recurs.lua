-- The stored fields of templates, and `next`, the time of the next run; of a paused one also since when,
-- by whom and why it is paused: `paused`, `by`, `reason`. Writes nothing.
-- Takes: jid ...
-- Result: per jid: name, value, ...; nil if the template does not exist
-- Refuses: more than 500 jids
return function(argv)
  if #argv - 2 > 500 then error('Look(): more than 500 jids') end
  return need('value/rows')(need('value/args_from')(argv, 3), function(jid)
    local key = Keys.recurring .. jid
    local row, found, queue = redis.pcall('hgetall', key), false, ''
    if row.err then
      need('value/wrong_type')(row, false, 'hash', key, 'hgetall', key)
    else
      for n = 1, #row, 2 do
        if row[n] == 'jid' then found = true end
        if row[n] == 'queue' then queue = row[n + 1] end
      end
    end
    if found then
      local next_run = redis.pcall('zscore', Keys.queue .. queue .. Keys.recur, jid)
      if type(next_run) == 'string' then row[#row + 1], row[#row + 2] = 'next', next_run end
      return row
    else
      local document, paused = need('recurring/paused')(jid), false
      if document then
        paused = {'paused', document.since or ''}
        for n = 1, #document.fields do paused[#paused + 1] = document.fields[n] end
        for _, name in ipairs({'next', 'by', 'reason'}) do
          if document[name] then paused[#paused + 1], paused[#paused + 2] = name, document[name] end
        end
      end
      return paused
    end
  end)
end
