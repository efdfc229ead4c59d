-- Checks whether a scheduled job falls due: no core runs what is scheduled before the epoch, and more than 1000
-- years from now is a time in milliseconds, or none.
-- Takes: job
return function(check)
  return function(job)
    local due = job.scores and not job.scores[Keys.work] and job.scores[Keys.scheduled]
      or job.state == 'depends' and job.scheduled
    local n = tonumber(due or nil)
    if n and (n < 0 or n > check.last_due) then check.add('never-due', job.id, 'scheduled for ' .. due) end
  end
end
