-- Checks the list of dependencies and the list of dependents of a job.
-- Takes: job
return function(check)
  local dependencies, dependents = check.need('judge/dependencies'), check.need('judge/dependents')
  return function(job)
    dependencies(job)
    dependents(job.id, job.state == 'complete' and job.queue == '' and 'complete' or 'there')
  end
end
