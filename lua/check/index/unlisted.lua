-- Checks a failed job that the caller has not found in any failure list, without a search of the lists: a job
-- that fails again gets another mark, and nothing else adds it to a list.
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
