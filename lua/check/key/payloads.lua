-- Checks that the payloads of a merge job belong to one: complete jobs, plain ones and missing ones have none.
-- Takes: name without the prefix; key; jid
return function(c)
  return function(name, key, jid)
    local what, j = c.read(jid)
    if what == 'type' or what == 'odd' then return end
    local why = what ~= 'job' and 'no job' or j.state == 'complete' and 'the job is complete'
      or j.dup ~= 'merge' and 'not a merge job'
    if why then c.add('payloads-stray', name, why, c.set_aside({}, key)) end
  end
end
