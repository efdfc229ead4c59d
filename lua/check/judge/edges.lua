-- Checks the dependencies and the dependents of a job.
-- Takes: job
return function(c)
  local dependencies, dependents = c.need('judge/dependencies'), c.need('judge/dependents')
  return function(j)
    dependencies(j)
    dependents(j.id, j.state == 'complete' and j.queue == '' and 'complete' or 'there')
  end
end
