-- Checks a failed job that the caller has not found in any failure list. The lists need no new search if the mark is
-- unchanged: only a new failure adds a job to a list, and it changes the mark.
-- Takes: jid; the mark that the job had before the caller read the lists
return function(check, group)
  local mark_of = need('job/mark')
  return function(jid, mark)
    local what, job = check.read(jid)
    if what ~= 'job' or job.state ~= 'failed' then return end
    local now = mark_of(jid, job.state, job.queue)
    if now == mark then check.need('judge/failed')(job, nil, group) end
  end
end
