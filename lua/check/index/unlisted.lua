-- Checks a failed job that the caller has not found in any failure list, without a search of the lists: a job
-- that fails again gets another mark, and nothing else adds it to a list.
-- Takes: jid; the mark that the job had before the caller read the lists
return function(c, group)
  local mark_of = need('job/mark')
  return function(jid, mark)
    local what, j = c.read(jid)
    if what ~= 'job' or j.state ~= 'failed' then return end
    local now = mark_of(jid, j.state, j.queue)
    if now == mark then c.need('judge/failed')(j, nil, group) end
  end
end
