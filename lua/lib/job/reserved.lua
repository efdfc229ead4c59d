-- Tests whether the key of a job with this jid would be a companion key of another job, such as `a-history` of job `a`.
-- Takes: jid
return function(jid)
  return string.find(jid, '%-history$') or string.find(jid, '%-dependencies$') or string.find(jid, '%-dependents$')
    or string.find(jid, '%-payloads$')
end
