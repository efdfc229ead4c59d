-- Checks that a scheduled job becomes due at all. No core runs a job scheduled before the epoch. A time more than
-- 1000 years from now is in milliseconds, or is not a time.
-- Takes: job
return function(check)
  return function(job)
    local due = job.scores and not job.scores[Keys.work] and job.scores[Keys.scheduled]
      or job.state == 'depends' and job.scheduled
    local n = tonumber(due or nil)
    if n and (n < 0 or n > check.last_due) then check.add('never-due', job.id, 'scheduled for ' .. due) end
  end
end
