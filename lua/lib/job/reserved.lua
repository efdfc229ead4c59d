-- Whether the key of a jid would be the companion key of another job.
-- Takes: jid
return function(jid)
  return string.find(jid, '%-history$') or string.find(jid, '%-dependencies$') or string.find(jid, '%-dependents$')
    or string.find(jid, '%-payloads$')
end
