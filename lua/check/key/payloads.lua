-- Checks that a key with payloads belongs to a merge job that exists and is not complete.
-- Takes: name without the prefix; key; jid
return function(check)
  return function(name, key, jid)
    local what, job = check.read(jid)
    if what == 'type' or what == 'odd' then return end
    local why = what ~= 'job' and 'no job' or job.state == 'complete' and 'the job is complete'
      or job.dup ~= 'merge' and 'not a merge job'
    if why then check.add('payloads-stray', name, why, check.set_aside({}, key)) end
  end
end
