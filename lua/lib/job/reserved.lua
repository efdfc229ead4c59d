-- Returns whether a jid ends so that its key would be another job's companion.
return function(jid)
  return string.find(jid, '%-history$') or string.find(jid, '%-dependencies$') or string.find(jid, '%-dependents$')
end
