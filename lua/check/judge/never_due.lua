-- Checks whether a scheduled job falls due: no core runs what is scheduled before the epoch, and more than 1000
-- years from now is a time in milliseconds, or none.
-- Takes: job
return function(c)
  return function(j)
    local due = j.scores and not j.scores[Keys.work] and j.scores[Keys.scheduled]
      or j.state == 'depends' and j.scheduled
    local n = tonumber(due or nil)
    if n and (n < 0 or n > c.last_due) then c.add('never-due', j.id, 'scheduled for ' .. due) end
  end
end
