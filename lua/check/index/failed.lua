-- Checks that a failed job is in the failure list of its group.
-- Takes: jid
return function(check)
  return function(jid)
    local what, job = check.read(jid)
    if what == 'job' and job.state == 'failed' then check.need('judge/failed')(job) end
  end
end
